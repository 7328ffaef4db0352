#!/usr/bin/env bash
echo "nothing to clean"
