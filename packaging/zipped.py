"""Zips a directory, the same for the same content: packaging/zipped.py FILE DIRECTORY"""

import os
import sys
import time
import zipfile
from pathlib import Path

file, directory = map(Path, sys.argv[1:])
date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            entry = zipfile.ZipInfo(str(path.relative_to(directory.parent)), date)
            entry.external_attr = 0o644 << 16  # not those of a clone, which are its owner's matter
            entry.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(entry, path.read_bytes())
