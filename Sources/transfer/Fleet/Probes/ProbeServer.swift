import Glibc
import TransferCore
import TransferEventLoop
import TransferQueue

/// The server for the probes of a worker: `/healthz` and `/metrics`, one request a connection.
///
/// A client costs at most a descriptor, 8 KiB and ten seconds. The health is answered on the server's own thread, so it
/// waits for no database.
///
/// `@unchecked Sendable`: the loop's thread alone accesses the variables.
final class ProbeServer: @unchecked Sendable {
    /// The course of a connection.
    private enum Course {
        case reading([UInt8])
        /// The answer is being made on another thread.
        case answering
        case writing(ArraySlice<UInt8>)
    }

    private struct Connection {
        let number: Int
        var since: MonotonicTime
        var course = Course.reading([])
    }

    /// The most connections at once. One more takes the place of the one that has been silent for longest.
    static let mostConnections = 32
    private static let patience = Duration.seconds(10)

    private let socket: ListeningSocket
    private let health: @Sendable () -> String?
    private let metrics: @Sendable () -> String
    private let loop: EventLoop
    private let worker = WorkerPool(name: "probe-metrics", threads: 1)
    private var connections: [Int32: Connection] = [:]
    private var count = 0
    private var timer: LoopTimer?

    /// The address that clients reach; the kernel chooses a port of 0.
    var address: ListenAddress { socket.address }

    /// Starts to answer.
    ///
    /// - Parameters:
    ///   - health: A function that returns why the worker cannot work, and `nil` where it can. It must be fast.
    ///   - metrics: A function that returns the metrics. It may block.
    /// - Throws: `TransferError` with the reason why the address cannot be used.
    init(
        _ address: ListenAddress, health: @escaping @Sendable () -> String?,
        metrics: @escaping @Sendable () -> String
    ) throws {
        socket = try ListeningSocket(address)
        self.health = health
        self.metrics = metrics
        loop = try EventLoop(name: "probes")
        _ = fcntl(socket.descriptor, F_SETFL, fcntl(socket.descriptor, F_GETFL) | O_NONBLOCK)
        loop.execute { [self] in
            timer = loop.makeTimer { [weak self] in self?.closeSilent() }
            loop.register(socket.descriptor, for: .readable) { [weak self] _ in self?.accept() }
        }
    }

    /// Ends the server. Connections are closed.
    func close() {
        // The process may end before the loop's next turn.
        socket.removeFile()
        loop.execute { [self] in
            if let timer { loop.remove(timer) }
            timer = nil
            loop.unregister(socket.descriptor)
            Glibc.close(socket.descriptor)
            for descriptor in Array(connections.keys) { close(descriptor) }
        }
        loop.stop()
        worker.stop()
    }

    // MARK: Connections

    private func accept() {
        while true {
            // The function accept4 is not in Glibc's module, and a child that is started in between has no use for the
            // connection.
            let descriptor = Glibc.accept(socket.descriptor, nil, nil)
            // Without a descriptor the connection waits in the kernel; the next one is tried when others have ended.
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            if connections.count >= Self.mostConnections { closeOldest() }
            count += 1
            connections[descriptor] = Connection(number: count, since: .now)
            loop.register(descriptor, for: .readable) { [weak self] _ in self?.read(descriptor) }
            if let timer, !timer.isScheduled { timer.schedule(at: .now + Self.patience) }
        }
    }

    private func closeOldest() {
        let oldest = connections.min { $0.value.since < $1.value.since }
        if let oldest { close(oldest.key) }
    }

    private func closeSilent() {
        let now = MonotonicTime.now
        for (descriptor, connection) in connections where now - connection.since >= Self.patience {
            // The database has its own time limit.
            if case .answering = connection.course { continue }
            close(descriptor)
        }
        if !connections.isEmpty { timer?.schedule(at: now + .seconds(1)) }
    }

    private func close(_ descriptor: Int32) {
        guard connections.removeValue(forKey: descriptor) != nil else { return }
        loop.unregister(descriptor)
        Glibc.close(descriptor)
    }

    private func read(_ descriptor: Int32) {
        guard case .reading(var bytes) = connections[descriptor]?.course else { return }
        var buffer = [UInt8](repeating: 0, count: 2048)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close(descriptor) }
        bytes += buffer[..<count]
        connections[descriptor]?.course = .reading(bytes)
        switch ProbeRequest(bytes) {
        case .incomplete: break
        case .malformed: answer(.plain("400 Bad Request", "this is no request of HTTP/1.1"), to: descriptor)
        case .tooLong:
            answer(.plain("431 Request Header Fields Too Large", "the head is too long"), to: descriptor)
        case .complete(let head): answer(head, to: descriptor)
        }
    }

    private func answer(_ head: ProbeRequest.Head, to descriptor: Int32) {
        switch ProbeRoute(head, isOnNetwork: address.isOpenToMachine) {
        case .refused(let refusal): answer(refusal, isHeadOnly: head.method == "HEAD", to: descriptor)
        case .health: answer(.health(health()), isHeadOnly: head.method == "HEAD", to: descriptor)
        case .metrics:
            loop.unregister(descriptor)
            connections[descriptor]?.course = .answering
            let number = connections[descriptor]?.number
            worker.execute { [self] in
                let text = metrics()
                loop.execute { [self] in
                    // The descriptor's number may belong to another connection meanwhile.
                    guard connections[descriptor]?.number == number else { return }
                    answer(.metrics(text), isHeadOnly: head.method == "HEAD", to: descriptor)
                }
            }
        }
    }

    private func answer(_ answer: ProbeAnswer, isHeadOnly: Bool = false, to descriptor: Int32) {
        var answer = answer
        answer.isHeadOnly = isHeadOnly
        connections[descriptor]?.since = .now
        connections[descriptor]?.course = .writing(answer.bytes[...])
        loop.register(descriptor, for: .writable) { [weak self] _ in self?.write(descriptor) }
    }

    private func write(_ descriptor: Int32) {
        guard case .writing(var rest) = connections[descriptor]?.course else { return }
        let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close(descriptor) }
        rest = rest.dropFirst(count)
        guard rest.isEmpty else {
            connections[descriptor]?.course = .writing(rest)
            return
        }
        shutdown(descriptor, Int32(SHUT_WR))
        close(descriptor)
    }
}
