#pragma once
#if !__has_include(<netlink/netlink.h>)
#error "libnl is missing: apt-get install libnl-3-dev libnl-route-3-dev"
#endif
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/object.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>
#include <netlink/socket.h>

enum { TRANSFER_RULE_ATTRIBUTES = FRA_MAX + 1 };

/* The attributes of a rule, each as long as what is read of it; below 0 where one isn't. */
static inline int transfer_rule_attributes(struct nlmsghdr *header, struct nlattr **attributes) {
    struct nla_policy policy[TRANSFER_RULE_ATTRIBUTES] = {
        [FRA_PRIORITY] = {.type = NLA_U32},
        [FRA_FWMARK] = {.type = NLA_U32},
        [FRA_TABLE] = {.type = NLA_U32},
        [FRA_SUPPRESS_PREFIXLEN] = {.type = NLA_U32},
    };
    return nlmsg_parse(header, sizeof(struct fib_rule_hdr), attributes, FRA_MAX, policy);
}
