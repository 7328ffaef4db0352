#!/usr/bin/env bash
DISK_SIZE="4G"
CORE_COUNT="2"
RAM_SIZE="512"
