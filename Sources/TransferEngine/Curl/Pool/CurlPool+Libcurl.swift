import CTransferCurl
import Synchronization
import TransferCore
import TransferEventLoop

// The calls of libcurl, of the loop, and of the pool's parts.
extension CurlPool: SocketHost, AddressHost, TrustHost, RateHost, SilenceHost, PathHost, SteeringHost,
    AcknowledgementHost
{
    func exchange(_ id: ExchangeID) -> ActiveExchange? { active[id] }

    // MARK: libcurl

    func act(on socket: curl_socket_t, _ mask: Int32) { multi.act(on: socket, mask) }

    func runTimeouts() { multi.runTimeouts() }

    func drain() {
        beginData()
        trust.judge(on: self)
        while let (exchange, code) = multi.nextEnded() { finishHop(exchange, code) }
        rates.holdBack(on: self)
    }

    /// Makes libcurl begin data connections of FTP whose address has come.
    ///
    /// libcurl (7.88) begins such a connection with its next call. It asks for no call where question and address fell
    /// into one call: transfers stood still until a timer came. It has not asked for the control connection either
    /// then. The next reply on that one may refuse the file, and is offered to libcurl.
    private func beginData() {
        guard let sockets else { return }
        let ids = sockets.takeDataBegins()
        guard !ids.isEmpty else { return }
        for id in ids { active[id]?.lookAtSockets() }
        runTimeouts()
        for id in ids {
            guard let control = active[id]?.files?.control else { continue }
            watched.expectReply(on: control, on: self)
        }
    }

    /// Watches a socket for libcurl, on behalf of the handle's exchange.
    fileprivate func watch(_ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32) {
        if what != CURL_POLL_REMOVE { noteUser(easy, socket) } else { steering.unused(socket) }
        watched.watch(socket, what, on: self)
        connections.store(watched.count, ordering: .relaxed)
    }

    /// Notes the exchange that uses a connection, as it may have served another one before.
    private func noteUser(_ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t) {
        guard let easy else { return }
        var user: UnsafeMutableRawPointer?
        transfer_easy_get_pointer(easy, CURLINFO_PRIVATE, &user)
        // libcurl's own handles, for work besides transfers, have no exchange.
        guard let user else { return }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue()
        sockets?.used(socket, by: exchange.id)
        uploadSockets.used(socket, by: exchange)
        exchange.connection.path.last = socket
        paths.used(socket, by: exchange)
        steering.used(socket, by: exchange, on: self)
    }

    func awaitsReply(on socket: curl_socket_t) -> ActiveExchange? {
        guard let id = sockets?.owner(of: socket), let exchange = active[id], exchange.awaitsReply else { return nil }
        return exchange
    }

    // MARK: Timers

    func timer(_ which: PoolTimer) -> LoopTimer {
        if let timer = timers[which] { return timer }
        let timer = loop.makeTimer { [weak self] in self?.onLoop { $0.fired(which) } }
        timers[which] = timer
        return timer
    }

    /// Schedules a call of libcurl after a time; never where the time is negative.
    fileprivate func schedule(_ milliseconds: Int) {
        let timer = timer(.libcurl)
        if milliseconds < 0 { timer.cancel() } else { timer.schedule(at: .now + .milliseconds(milliseconds)) }
    }

    private func fired(_ which: PoolTimer) {
        switch which {
        case .libcurl:
            runTimeouts()
            drain()
        case .rate: rates.pauseEnded(on: self)
        case .address: addresses.timedOut(on: self)
        case .silence: silence.look(on: self)
        case .acknowledgement: acknowledgements.look(on: self)
        case .trust: trust.timedOut(on: self)
        case .steering: steering.look(on: self)
        case .reply: watched.offerAgain(on: self)
        case .path: paths.look(on: self)
        }
    }
}

/// The callbacks that libcurl calls on the loop's thread, from within a call of the pool.
enum PoolCallbacks {
    static let socket: transfer_socket_callback = { easy, socket, what, user, _ in
        guard let user else { return 0 }
        let pool = Unmanaged<CurlPool>.fromOpaque(user).takeUnretainedValue()
        // libcurl calls this on the loop's own thread, and the closure below runs there before it returns.
        nonisolated(unsafe) let easy = easy
        pool.onLoop { $0.watch(easy, socket, what) }
        return 0
    }

    static let timer: transfer_timer_callback = { _, milliseconds, user in
        guard let user else { return 0 }
        let pool = Unmanaged<CurlPool>.fromOpaque(user).takeUnretainedValue()
        pool.onLoop { $0.schedule(milliseconds) }
        return 0
    }
}
