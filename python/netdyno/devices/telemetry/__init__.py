"""Instruments that read a device beside the traffic: by SNMP, and this machine's own kernel."""
