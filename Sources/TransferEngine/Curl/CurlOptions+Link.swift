import CTransferCurl
import Glibc
import TransferCore

// The only link that everything goes over.
extension CurlOptions {
    /// Not CURLOPT_INTERFACE: where its SO_BINDTODEVICE isn't permitted, libcurl is content with the link's address as
    /// the source, and the kernel sends from there over any link. And it would bind what goes to this machine, too.
    func applyLink(_ handle: CurlHandle) throws(TransferError) {
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        // Without a link too: libcurl doesn't tell why it got no socket.
        try handle.check(
            transfer_easy_set_opensocket(handle.raw, LinkCallbacks.socket), CURLOPT_OPENSOCKETFUNCTION)
        try handle.set(CURLOPT_OPENSOCKETDATA, pointer: pointer)
        guard exchange.link != nil else { return }
        try handle.check(
            transfer_easy_set_resolver_start(handle.raw, LinkCallbacks.lookUp), CURLOPT_RESOLVER_START_FUNCTION)
        try handle.set(CURLOPT_RESOLVER_START_DATA, pointer: pointer)
    }
}

extension ActiveExchange {
    /// That a kind of address isn't there (EAFNOSUPPORT) is no lack: another one may be.
    func noteSocketFault(_ code: Int32) { if OpenFiles.isLack(code) { connection.socketFault = code } }

    /// The only link that it goes over.
    var link: String? { request.settings.link }

    /// Whose addresses libcurl needs for the hop: the server's or the proxy's, or both.
    func names(of hop: Hop) -> [String] {
        guard request.settings.unixSocket == nil, let origin = hop.origin else { return [] }
        guard let way = request.settings.way(to: hop.url) else { return [origin.host] }
        let proxy = ProxyAddress(way)
        return proxy.looksUpNames ? [proxy.host] : [proxy.host, origin.host]
    }

    /// What libcurl spells otherwise than we do (percent codes, punycode) it wouldn't find among the addresses that
    /// it's given, and would look up by itself.
    func nameError(_ hop: Hop) -> TransferError? {
        guard link != nil else { return nil }
        for name in names(of: hop) where SpecialName.addresses(name) == nil {
            let isPlain = name.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-._".utf8.contains(byte)
            }
            guard isPlain else {
                return TransferError(
                    .badURL,
                    "over a required link a host has to be written in plain letters (\"xn--…\" for others): \(name)")
            }
        }
        return nil
    }

    /// The failure of a hop that got no socket: this machine's, and nothing is known against the other side.
    func socketError(_ code: CURLcode, host: String) -> TransferError? {
        guard connection.socketFault != 0, code != CURLE_OK else { return nil }
        let reason = String(cString: strerror(connection.socketFault)).lowercased()
        return TransferError(
            .cannotConnect, "can't open a connection to \(host): \(reason)", cause: .os(errno: connection.socketFault),
            isTransient: true)
    }

    /// The failure of a hop whose sockets couldn't be bound.
    func linkError(_ code: CURLcode) -> TransferError? {
        guard let link, let linkFault = connection.linkFault, code == CURLE_COULDNT_CONNECT else { return nil }
        return .linkUnavailable(link, errno: linkFault)
    }
}

enum LinkCallbacks {
    fileprivate static let socket: transfer_opensocket_callback = { user, _, address in
        guard let user, let address else { return -1 }
        return open(Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue(), address)
    }

    static func open(_ exchange: ActiveExchange, _ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let (family, type, proto) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        guard let link = exchange.link, !isOnThisMachine(address) else {
            let descriptor = LinkSocket.openUnbound(family, type, proto)
            if descriptor < 0 { exchange.noteSocketFault(errno) }
            return descriptor
        }
        switch LinkSocket.open(family, type, proto, link: link) {
        case .success(let descriptor): return descriptor
        case .failure(.link(let code)): exchange.connection.linkFault = code
        case .failure(.socket(let code)): exchange.noteSocketFault(code)
        }
        return -1
    }

    /// libcurl has no address: right for what it reads as one, and for `localhost`; it must never ask for names.
    fileprivate static let lookUp: transfer_resolver_start_callback = { _, _, user in
        guard let user else { return 1 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        guard let hop = exchange.hop else { return 1 }
        // The addresses of data connections, which are numbers: the server's name was given to libcurl for good.
        guard exchange.files == nil else { return 0 }
        return exchange.names(of: hop).contains { SpecialName.addresses($0) != nil } ? 0 : 1
    }

    private static func isOnThisMachine(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        guard address.pointee.family != AF_UNIX else { return true }
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return false }
        let pointer = UnsafeRawPointer(address).advanced(by: offset).assumingMemoryBound(to: sockaddr.self)
        return NumericAddress.text(pointer, socklen_t(address.pointee.addrlen)).flatMap { IPAddress($0) }?.isLoopback
            ?? false
    }
}
