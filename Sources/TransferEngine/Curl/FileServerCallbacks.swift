import CTransferCurl
import TransferCore
import TransferCrypto

/// libcurl's callbacks for file servers; see `CurlCallbacks`.
enum FileServerCallbacks {
    static let progress: transfer_xferinfo_callback = { user, _, down, _, up in
        guard let user else { return 0 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        guard let files = exchange.files else { return 0 }
        return files.progressed(exchange, down: Int64(down), up: Int64(up)) ? 0 : 1
    }

    static let open: transfer_opensocket_callback = { user, _, address in
        guard let user, let address else { return -1 }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        let socket = LinkCallbacks.open(exchange, address)
        if socket >= 0, let files = exchange.files {
            files.sockets.opened(socket, by: exchange.id, to: files.url.origin)
        }
        return socket
    }

    static let close: transfer_closesocket_callback = { user, socket in
        guard let user else { return -1 }
        return Unmanaged<ServerSockets>.fromOpaque(user).takeUnretainedValue().close(socket)
    }

    /// Called by libcurl when the user of a connection is logged in and a step is about to begin
    /// (CURLOPT_PREREQFUNCTION(3)).
    static let prerequest: transfer_prerequest_callback = { user, _, _, _, localPort in
        guard let user else { return CURL_PREREQFUNC_ABORT }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        exchange.files?.stepBegins(of: exchange.id, from: Int(localPort))
        return CURL_PREREQFUNC_OK
    }

    /// Judges the host key. No key is ever added to the known hosts, and libcurl's own comparison is ignored.
    static let hostKey: transfer_hostkey_callback = { _, _, found, _, user in
        let refused = Int32(CURLKHSTAT_REJECT.rawValue)
        guard let user, let found,
            let files = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue().files
        else { return refused }
        let key = found.pointee
        // Without a length the key is text (CURLOPT_SSH_KEYFUNCTION(3)).
        let bytes =
            key.len > 0
            ? Array(UnsafeRawBufferPointer(start: key.key, count: key.len))
            : key.key.flatMap { Base64.decode(String(cString: $0)) } ?? []
        let verdict = files.knownKeys?.verdict(bytes) ?? .unknown
        guard let fault = SSHHostKey.Fault(verdict) else { return Int32(CURLKHSTAT_FINE.rawValue) }
        files.hostKey = SSHHostKey(
            fault: fault, type: name(of: key.keytype),
            fingerprint: bytes.isEmpty ? nil : SSHFingerprint.sha256(of: bytes))
        return refused
    }

    private static func name(of type: curl_khtype) -> String? {
        switch type {
        case CURLKHTYPE_RSA: "RSA"
        case CURLKHTYPE_DSS: "DSA"
        case CURLKHTYPE_ECDSA: "ECDSA"
        case CURLKHTYPE_ED25519: "ED25519"
        default: nil
        }
    }
}
