#pragma once
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
