import CTransferCurl
import Glibc
import TransferCore

/// The callbacks that bind all sockets of an exchange to its only link.
enum LinkCallbacks {
    /// Sets the callbacks, which replace CURLOPT_INTERFACE.
    ///
    /// With CURLOPT_INTERFACE, libcurl uses only the link's address as the source if SO_BINDTODEVICE is not permitted.
    /// The kernel then sends from that address over any link. The option would also bind connections to this machine.
    static func apply(to handle: CurlHandle, _ exchange: ActiveExchange) throws(TransferError) {
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        // The callback is set without a link too: libcurl does not report why it got no socket.
        try handle.check(transfer_easy_set_opensocket(handle.raw, socket), CURLOPT_OPENSOCKETFUNCTION)
        try handle.set(CURLOPT_OPENSOCKETDATA, pointer: pointer)
        guard exchange.link != nil else { return }
        try handle.check(transfer_easy_set_resolver_start(handle.raw, lookUp), CURLOPT_RESOLVER_START_FUNCTION)
        try handle.set(CURLOPT_RESOLVER_START_DATA, pointer: pointer)
    }

    private static let socket: transfer_opensocket_callback = { user, _, address in
        guard let user, let address else { return -1 }
        return open(Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue(), address)
    }

    static func open(_ exchange: ActiveExchange, _ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let (family, type, proto) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        if exchange.request.settings.route.isPublicOnly, let refused = refusal(exchange, address) {
            exchange.connection.refusedAddress = refused
            return -1
        }
        guard let link = exchange.link, !isOnThisMachine(address) else {
            let descriptor = LinkSocket.openUnbound(family, type, proto)
            if descriptor < 0 { exchange.connection.noteSocketFault(errno) }
            return descriptor
        }
        switch LinkSocket.open(family, type, proto, link: link) {
        case .success(let descriptor): return descriptor
        case .failure(.link(let code)): exchange.connection.linkFault = code
        case .failure(.socket(let code)): exchange.connection.noteSocketFault(code)
        }
        return -1
    }

    /// Lets libcurl resolve only addresses and `localhost`: it must never ask for names.
    private static let lookUp: transfer_resolver_start_callback = { _, _, user in
        guard let user else { return 1 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        guard let hop = exchange.hop else { return 1 }
        // The remaining addresses are those of data connections, which are numbers. libcurl keeps the given address of
        // the server's name.
        guard exchange.files == nil else { return 0 }
        return hop.namesToLookUp(exchange.request.settings).contains { SpecialName.addresses($0) != nil } ? 0 : 1
    }

    private static func isOnThisMachine(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        guard address.pointee.family != AF_UNIX else { return true }
        return text(address).flatMap { IPAddress($0) }?.isLoopback ?? false
    }

    /// Returns the address, where it is not a public one. The proxy's address is the user's choice.
    private static func refusal(
        _ exchange: ActiveExchange, _ address: UnsafeMutablePointer<curl_sockaddr>
    ) -> String? {
        if let hop = exchange.hop, exchange.request.settings.way(to: hop.url) != nil { return nil }
        guard let text = text(address), let parsed = IPAddress(text) else { return "no address that can be judged" }
        return parsed.isPublic ? nil : parsed.description
    }

    private static func text(_ address: UnsafeMutablePointer<curl_sockaddr>) -> String? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let pointer = UnsafeRawPointer(address).advanced(by: offset).assumingMemoryBound(to: sockaddr.self)
        return NumericAddress.text(pointer, socklen_t(address.pointee.addrlen))
    }
}
