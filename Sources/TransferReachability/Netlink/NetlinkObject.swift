import CTransferNetlink
import TransferCore

/// The object that libnl-route makes of a message: a link, an address or a route (`nl_msg_parse`).
enum NetlinkObject {
    /// Reads a message.
    ///
    /// - Parameter make: A closure that converts the object, which exists only during the call.
    /// - Returns: `nil` where libnl-route cannot read the message, or has no such object.
    static func read<Value>(
        _ header: UnsafeMutablePointer<nlmsghdr>, _ make: (OpaquePointer) -> Value?
    ) -> Value? {
        guard let message = nlmsg_convert(header) else { return nil }
        defer { nlmsg_free(message) }
        nlmsg_set_proto(message, NETLINK_ROUTE)
        var value: Value?
        withoutActuallyEscaping(make) { make in
            var take: Take = { value = make($0) }
            withUnsafeMutablePointer(to: &take) { take in
                _ = nl_msg_parse(
                    message,
                    { object, take in if let object { take?.assumingMemoryBound(to: Take.self).pointee(object) } },
                    take)
            }
        }
        return value
    }

    private typealias Take = (OpaquePointer) -> Void
}

extension IPAddress {
    /// Creates an address from a libnl object.
    ///
    /// - Parameter address: A `struct nl_addr`.
    init?(_ address: OpaquePointer?) {
        guard let address, let bytes = nl_addr_get_binary_addr(address) else { return nil }
        self.init(bytes: Array(UnsafeRawBufferPointer(start: bytes, count: Int(nl_addr_get_len(address)))))
    }
}
