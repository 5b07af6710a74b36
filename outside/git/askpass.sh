#!/bin/sh
# Answers git's question once from a pipe that the server filled (see credentials.py).
case "$1" in
Username*) exec cat "/dev/fd/$CC_ASKPASS_USERNAME" ;;
*) exec cat "/dev/fd/$CC_ASKPASS_PASSWORD" ;;
esac
