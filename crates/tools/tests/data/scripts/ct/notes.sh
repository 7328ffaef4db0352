#!/usr/bin/env bash
# Author: oxmox
# License: MIT
# Source: https://notes.example.org/

APP="Notes"
var_tags="${var_tags:-office;text}"
var_cpu="${var_cpu:-2}"
var_ram="${var_ram:-1024}"
var_disk="${var_disk:-8}"
var_os="${var_os:-debian}"
var_version="${var_version:-13}"
var_unprivileged="${var_unprivileged:-1}"
