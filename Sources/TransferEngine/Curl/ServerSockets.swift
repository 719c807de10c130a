import CTransferCurl
import CTransferLinux
import Glibc
import Synchronization
import TransferCore

/// The sockets of one pool's connections to file servers, each with the exchange that uses it.
///
/// libcurl sometimes blocks its loop's thread for these servers: for the reply after an FTP transfer, the end of an
/// SFTP file, a farewell. The loop then cannot carry out a cancellation. But the sockets can be shut down from any
/// thread, which ends every such wait.
final class ServerSockets: Sendable {
    private struct Entry {
        var owner: ExchangeID?
        let origin: Origin
        /// The inode, which distinguishes the socket from a later one with the same number.
        let inode: ino_t
    }

    private struct State {
        var entries: [Int32: Entry] = [:]
        /// The exchanges under way, with the reason to end them.
        var exchanges: [ExchangeID: TransferError?] = [:]
        /// The sockets that libcurl has closed, whose peer has not acknowledged all bytes of an exchange under way.
        var draining: [(socket: Int32, owner: ExchangeID)] = []
        /// The exchanges whose server had ended a connection when libcurl closed it.
        var deserted: Set<ExchangeID> = []
        /// The replies of FTP servers that had ended the data connection, which libcurl does not read.
        var lastReplies: [ExchangeID: [UInt8]] = [:]
        /// The exchanges whose FTP server has just reported the address of its data connection.
        var dataBegins: Set<ExchangeID> = []
    }

    private let state = Mutex(State())

    // MARK: On the loop

    func begin(_ id: ExchangeID) { state.withLock { $0.exchanges[id] = .some(nil) } }

    func end(_ id: ExchangeID) {
        state.withLock { state in
            state.exchanges[id] = nil
            state.deserted.remove(id)
            state.lastReplies[id] = nil
            for entry in state.draining where entry.owner == id { _ = Glibc.close(entry.socket) }
            state.draining.removeAll { $0.owner == id }
            Self.release(id, &state)
        }
    }

    func opened(_ socket: Int32, by id: ExchangeID, to origin: Origin) {
        guard let inode = Self.inode(socket) else { return }
        state.withLock { $0.entries[socket] = Entry(owner: id, origin: origin, inode: inode) }
    }

    /// Notes that an existing connection serves another exchange.
    func used(_ socket: Int32, by id: ExchangeID) {
        state.withLock { $0.entries[socket]?.owner = id }
    }

    /// Notes that the connection from a local port serves an exchange.
    ///
    /// - Returns: The connection's socket; `nil` where there is none.
    func used(localPort: Int, by id: ExchangeID) -> Int32? {
        state.withLock { state in
            let known = state.entries.filter { $0.value.owner == nil || $0.value.owner == id }
            guard
                let socket = known.first(where: {
                    PlainSockets.port(of: $0.key) == localPort && Self.inode($0.key) == $0.value.inode
                })?.key
            else { return nil }
            state.entries[socket]?.owner = id
            return socket
        }
    }

    func owner(of socket: Int32) -> ExchangeID? { state.withLock { $0.entries[socket]?.owner } }

    /// Releases the exchange's connections, which may be used again.
    func release(_ id: ExchangeID) { state.withLock { Self.release(id, &$0) } }

    /// Closes a socket that libcurl no longer needs.
    func close(_ socket: Int32) -> Int32 {
        hearLastReply(on: socket)
        return state.withLock { state in
            guard let id = state.entries.removeValue(forKey: socket)?.owner else { return Glibc.close(socket) }
            if Self.hasLeft(socket) {
                state.deserted.insert(id)
            } else if case .some(nil) = state.exchanges[id], transfer_unacknowledged(socket) > 0,
                shutdown(socket, Int32(SHUT_WR)) == 0
            {
                // A file's last bytes may be under way for minutes, and its answer comes after them.
                state.draining.append((socket, id))
                return 0
            }
            return Glibc.close(socket)
        }
    }

    /// Reads the reply that says why an FTP server ended the data connection: libcurl closes the control connection
    /// without reading it. The reply comes just after that end, and libcurl blocks its loop for such replies too.
    private func hearLastReply(on socket: Int32) {
        let id = state.withLock { state -> ExchangeID? in
            guard let id = state.entries[socket]?.owner, state.deserted.contains(id), !Self.hasLeft(socket) else {
                return nil
            }
            return id
        }
        var look = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard let id, poll(&look, 1, Self.replyTime) == 1 else { return }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return }
        state.withLock { $0.lastReplies[id] = Array(bytes[..<count]) }
    }

    /// The milliseconds that a server gets for that reply.
    private static let replyTime: Int32 = 300

    /// Returns the FTP server's reply to the end of the data connection, if one came.
    func lastReply(to id: ExchangeID) -> [UInt8] { state.withLock { $0.lastReplies.removeValue(forKey: id) ?? [] } }

    /// Returns the bytes of the exchange that its peers have not acknowledged.
    func unacknowledged(of id: ExchangeID) -> Int64 {
        state.withLock { state in
            let open = state.entries.filter { $0.value.owner == id }.keys
            let closed = state.draining.filter { $0.owner == id }.map(\.socket)
            for socket in closed where transfer_unacknowledged(socket) <= 0 {
                _ = Glibc.close(socket)
                state.draining.removeAll { $0.socket == socket }
            }
            let draining = state.draining.filter { $0.owner == id }.map(\.socket)
            return (open + draining).reduce(0) { $0 + max(0, transfer_unacknowledged($1)) }
        }
    }

    /// Returns whether the server ended a connection of the exchange.
    ///
    /// The status that libssh2 then reports as its answer may be an earlier one.
    func isDeserted(_ id: ExchangeID) -> Bool {
        state.withLock { state in
            state.deserted.contains(id) || state.entries.contains { $0.value.owner == id && Self.hasLeft($0.key) }
        }
    }

    func dataBegins(_ id: ExchangeID) { state.withLock { _ = $0.dataBegins.insert(id) } }

    func takeDataBegins() -> Set<ExchangeID> {
        state.withLock { state in
            defer { state.dataBegins.removeAll() }
            return state.dataBegins
        }
    }

    func shutDown(_ id: ExchangeID) { state.withLock { Self.shutDown(&$0) { $0 == id } } }

    // MARK: From any thread

    /// Ends an exchange, even while libcurl blocks its loop.
    func stop(_ id: ExchangeID, _ error: TransferError) {
        state.withLock { state in
            guard case .some(nil) = state.exchanges[id] else { return }
            state.exchanges[id] = error
            Self.shutDown(&state) { $0 == id }
        }
    }

    func stopAll(_ error: TransferError) {
        state.withLock { state in
            for case (let id, nil) in state.exchanges { state.exchanges[id] = error }
            Self.shutDown(&state) { _ in true }
        }
    }

    /// Returns whether a connection to that server is idle.
    func hasIdle(to origin: Origin) -> Bool {
        state.withLock { $0.entries.values.contains { $0.owner == nil && $0.origin == origin } }
    }

    /// Returns the reason to end the exchange, if there is one.
    func stopReason(_ id: ExchangeID) -> TransferError? { state.withLock { $0.exchanges[id] ?? nil } }

    private static func release(_ id: ExchangeID, _ state: inout State) {
        for (socket, entry) in state.entries where entry.owner == id { state.entries[socket]?.owner = nil }
    }

    private static func shutDown(_ state: inout State, where isMeant: (ExchangeID?) -> Bool) {
        for (socket, entry) in state.entries where isMeant(entry.owner) && inode(socket) == entry.inode {
            PlainSockets.giveUp(socket)
        }
    }

    private static func hasLeft(_ socket: Int32) -> Bool {
        // The constant is POLLRDHUP: Glibc's module omits it because its header requires _GNU_SOURCE.
        let readHangUp: Int16 = 0x2000
        var look = pollfd(fd: socket, events: readHangUp, revents: 0)
        return poll(&look, 1, 0) == 1 && look.revents & (readHangUp | Int16(POLLHUP | POLLERR)) != 0
    }

    private static func inode(_ socket: Int32) -> ino_t? {
        var status = stat()
        return fstat(socket, &status) == 0 ? status.st_ino : nil
    }
}
