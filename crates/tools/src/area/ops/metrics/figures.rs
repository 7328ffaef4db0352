//! What PVE records of guests, nodes and storages. What a release does not have is not there; nothing here is required.

use super::series::Unit;

/// PVE's name of a figure, its unit, and the figure that bounds it.
pub(super) type Figure = (&'static str, Unit, Option<&'static str>);

/// What is recorded of one sort of thing: panels of figures, each with its unit and what bounds it.
pub(super) type Figures = &'static [(&'static str, &'static [Figure])];

pub(super) const GUEST: Figures = &[
    ("CPU", &[("cpu", Unit::Share, None)]),
    (
        "Memory",
        &[
            ("mem", Unit::Bytes, Some("maxmem")),
            ("memhost", Unit::Bytes, Some("maxmem")),
        ],
    ),
    (
        "Network",
        &[
            ("netin", Unit::BytesPerSecond, None),
            ("netout", Unit::BytesPerSecond, None),
        ],
    ),
    (
        "Disk I/O",
        &[
            ("diskread", Unit::BytesPerSecond, None),
            ("diskwrite", Unit::BytesPerSecond, None),
        ],
    ),
    ("Disk", &[("disk", Unit::Bytes, Some("maxdisk"))]),
    ("Pressure", PRESSURE),
];

pub(super) const NODE: Figures = &[
    (
        "CPU",
        &[("cpu", Unit::Share, None), ("iowait", Unit::Share, None)],
    ),
    (
        "Memory",
        &[
            ("memused", Unit::Bytes, Some("memtotal")),
            ("arcsize", Unit::Bytes, Some("memtotal")),
        ],
    ),
    (
        "Network",
        &[
            ("netin", Unit::BytesPerSecond, None),
            ("netout", Unit::BytesPerSecond, None),
        ],
    ),
    ("Root disk", &[("rootused", Unit::Bytes, Some("roottotal"))]),
    ("Load", &[("loadavg", Unit::Number, None)]),
    ("Swap", &[("swapused", Unit::Bytes, Some("swaptotal"))]),
    ("Pressure", PRESSURE),
];

pub(super) const STORAGE: Figures = &[("Space", &[("used", Unit::Bytes, Some("total"))])];

/// Since PVE 9: the share of time in which something waited.
const PRESSURE: &[Figure] = &[
    ("pressurecpusome", Unit::Percent, None),
    ("pressureiosome", Unit::Percent, None),
    ("pressurememorysome", Unit::Percent, None),
];
