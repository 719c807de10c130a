import Glibc
import TransferCore

/// The address families that this machine's links have, as getaddrinfo(3) counts them for AI_ADDRCONFIG.
enum LinkFamilies {
    /// Whether IPv4 or IPv6 has only loopback addresses, so that AI_ADDRCONFIG leaves the family out.
    ///
    /// The value is `false` where the system does not report it.
    static var lacksOne: Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return false }
        defer { freeifaddrs(list) }
        var found: Set<Int32> = []
        var entry = list
        while let current = entry?.pointee {
            entry = current.ifa_next
            guard let address = current.ifa_addr else { continue }
            // The family is the first member of a sockaddr (sockaddr(3type)). Several C modules declare the member.
            let family = Int32(UnsafeRawPointer(address).load(as: sa_family_t.self))
            guard family == AF_INET || family == AF_INET6 else { continue }
            let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            let text = NumericAddress.text(address, socklen_t(size))
            if let text, !isLoopback(text) { found.insert(family) }
        }
        return found.count < 2
    }

    private static func isLoopback(_ text: String) -> Bool { IPAddress(text)?.isLoopback == true }
}
