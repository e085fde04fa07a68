//! The door between Rust and Python: conversion and the exception map, nothing else.
