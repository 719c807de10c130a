import CTransferAres
import Glibc
import TransferCore
import TransferEventLoop

/// A look-up of one name by c-ares, on the calling thread, by its own channel with bound sockets.
///
/// c-ares can bind sockets itself (ares_set_local_dev(3)), but continues where that fails, and would ask over any link.
/// Therefore its sockets are made here, and a socket that cannot be bound is not made. The sockets by which it sorts
/// the addresses are made in the same way.
final class LinkLookUp {
    private let host: String
    private let link: String
    private let servers: [String]
    // The channel is made in init and freed in deinit.
    private var channel: OpaquePointer?
    /// The `errno` for which the last socket was not bound.
    private var linkError: Int32?
    private var answer: (status: Int32, addresses: [String])?

    init(host: String, link: String, servers: NameServers, rules: LinkResolver) throws(TransferError) {
        self.host = host
        self.link = link
        self.servers = servers.servers
        let milliseconds = Int32(clamping: (servers.timeout ?? rules.timeout).inMilliseconds)
        var domains: [UnsafeMutablePointer<CChar>?] = servers.search.map { strdup($0) }
        defer { for domain in domains { free(domain) } }
        let list = servers.servers.map { $0.contains(":") ? "[\($0)]:\(rules.port)" : "\($0):\(rules.port)" }
        let code = transfer_ares_create(
            &channel, host.utf8.contains(UInt8(ascii: ".")) ? 0 : 1, servers.usesTCP ? 1 : 0, servers.rotates ? 1 : 0,
            max(1, milliseconds), Int32(clamping: servers.attempts ?? rules.attempts), &domains,
            Int32(domains.count), list.joined(separator: ","), Self.open, Unmanaged.passUnretained(self).toOpaque())
        guard code == TRANSFER_ARES_SUCCESS.status else { throw Self.fault(code) }
    }

    deinit {
        // The call closes the channel's sockets; a look-up under way calls back once more.
        if let channel { transfer_ares_destroy(channel) }
    }

    /// Runs the look-up.
    ///
    /// - Returns: At least one address, each once.
    func run(until deadline: MonotonicTime, interrupt: Interrupt?) throws(TransferError) -> [String] {
        guard let channel else { throw Self.fault(TRANSFER_ARES_ENOTINITIALIZED.status) }
        transfer_ares_look_up(channel, host, Self.finish, Unmanaged.passUnretained(self).toOpaque())
        while answer == nil {
            guard poll(channel, until: deadline, interrupt) else {
                transfer_ares_cancel(channel)
                break
            }
        }
        if let linkError, answer?.status != TRANSFER_ARES_SUCCESS.status {
            throw .linkUnavailable(link, errno: linkError)
        }
        guard let answer else { throw unanswered }
        guard answer.status == TRANSFER_ARES_SUCCESS.status else { throw error(answer.status) }
        guard !answer.addresses.isEmpty else { throw error(TRANSFER_ARES_ENODATA.status) }
        return answer.addresses
    }

    /// Waits once for a socket or a time-out of the channel, and lets it work.
    ///
    /// - Returns: Whether the look-up continues.
    private func poll(_ channel: OpaquePointer, until deadline: MonotonicTime, _ interrupt: Interrupt?) -> Bool {
        let left = (deadline - .now).inMilliseconds
        guard left > 0 else { return false }
        var sockets = [Int32](repeating: -1, count: Self.mostSockets)
        let wanted = transfer_ares_sockets(channel, &sockets)
        var polled = [pollfd(fd: interrupt?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)]
        for (index, socket) in sockets.enumerated() {
            let reads = wanted & 1 << UInt32(index) != 0
            let writes = wanted & 1 << UInt32(index + sockets.count) != 0
            guard reads || writes else { continue }
            polled.append(
                pollfd(fd: socket, events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0))
        }
        let most = Int32(clamping: left)
        guard Glibc.poll(&polled, nfds_t(polled.count), transfer_ares_wait(channel, most)) >= 0 || errno == EINTR else {
            return false
        }
        guard polled[0].revents == 0 else { return false }
        let ready = polled.dropFirst().filter { $0.revents != 0 }
        for entry in ready {
            let isWritable = entry.revents & Int16(POLLOUT) != 0
            // An error is detected by reading.
            let isReadable = entry.revents & ~Int16(POLLOUT) != 0
            transfer_ares_process(channel, isReadable ? entry.fd : -1, isWritable ? entry.fd : -1)
        }
        if ready.isEmpty { transfer_ares_process(channel, -1, -1) }
        return true
    }

    // MARK: c-ares

    private static let mostSockets = Int(TRANSFER_ARES_SOCKETS)

    private static let open: transfer_ares_open = { family, type, proto, user in
        guard let user else { return -1 }
        let lookUp = Unmanaged<LinkLookUp>.fromOpaque(user).takeUnretainedValue()
        switch LinkSocket.open(family, type, proto, link: lookUp.link) {
        case .success(let descriptor): return descriptor
        case .failure(.link(let code)):
            lookUp.linkError = code
            errno = code
        case .failure(.socket(let code)): errno = code
        }
        return -1
    }

    private static let finish: transfer_ares_finish = { user, status, list, count in
        guard let user else { return }
        let lookUp = Unmanaged<LinkLookUp>.fromOpaque(user).takeUnretainedValue()
        var addresses: [String] = []
        for index in 0..<(status == TRANSFER_ARES_SUCCESS.status ? Int(count) : 0) {
            guard let text = list?[index].map({ String(cString: $0) }), !addresses.contains(text) else { continue }
            addresses.append(text)
        }
        lookUp.answer = (status, addresses)
    }

    // MARK: Failures

    private func error(_ status: Int32) -> TransferError {
        func make(_ reason: String, transient: Bool = true) -> TransferError {
            TransferError(
                .cannotResolveHost, "cannot find the host \(host): \(reason)", isTransient: transient, scope: .origin)
        }
        switch status {
        case TRANSFER_ARES_ENOTFOUND.status: return make("no such name, say the name servers over \(link)")
        case TRANSFER_ARES_ENODATA.status: return make("it has no address, say the name servers over \(link)")
        case TRANSFER_ARES_ETIMEOUT.status, TRANSFER_ARES_ECONNREFUSED.status, TRANSFER_ARES_ECANCELLED.status,
            TRANSFER_ARES_EDESTRUCTION.status:
            return unanswered
        case TRANSFER_ARES_EBADNAME.status: return make("that cannot be a name", transient: false)
        default: return make("the name servers over \(link) failed: \(Self.words(status))")
        }
    }

    private var unanswered: TransferError {
        TransferError(
            .cannotResolveHost,
            "cannot find the host \(host): no name server answered over \(link) (\(servers.joined(separator: ", ")))",
            isTransient: true, scope: .origin)
    }

    private static func fault(_ status: Int32) -> TransferError {
        TransferError(.internalFault, "c-ares cannot be set up: \(words(status))")
    }

    private static func words(_ status: Int32) -> String {
        String(cString: transfer_ares_words(status)).lowercasedFirst
    }
}

extension RawRepresentable where RawValue: BinaryInteger {
    fileprivate var status: Int32 { Int32(rawValue) }
}

extension BinaryInteger {
    fileprivate var status: Int32 { Int32(self) }
}
