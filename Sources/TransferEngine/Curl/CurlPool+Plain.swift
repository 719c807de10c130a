import CTransferCurl
import Glibc
import TransferCore
import TransferEventLoop

// Small uploads without TLS: libcurl makes their connections, and what goes over them is ours. Why: see "A small upload
// without TLS is framed by ourselves" in TransferEngine.docc/Decisions.md.
extension CurlPool {
    /// The request, where it may go without libcurl.
    ///
    /// - Returns: `nil` for what is libcurl's: whatever is larger, safer or less common. `received` relies on some of that:
    ///   nobody decides about a redirect, nothing is decoded, and an `AnswerSink` never holds anything back.
    /// - Throws: `sourceChanged`.
    func plainRequest(_ hop: Hop, _ exchange: ActiveExchange) throws(TransferError) -> PlainRequest? {
        let request = exchange.request
        let settings = request.settings
        guard settings.joinsSmallBodies, hop.url.hasUTF8Prefix(Self.plainScheme), request.cookies == nil,
            !request.asksBeforeRedirects, !settings.decodes, !settings.collectsHopMetrics, settings.lowSpeedRate <= 1,
            settings.unixSocket == nil, case .none = settings.credentials, !hop.isConnectionAuthenticated,
            exchange.sink is AnswerSink, settings.way(to: hop.url) == nil,
            let body = try exchange.bodyToJoin(hop)
        else { return nil }
        var headers = hop.headers
        if case .field(let value) = hop.authorization { headers.set("Authorization", value) }
        return plain.maker.make(hop.url, hop.method, headers, body: body)
    }

    private static let plainScheme = Array("http://".utf8)

    /// Over a connection that waits for a request, or a new one.
    func begin(
        _ request: PlainRequest, _ hop: Hop, _ exchange: ActiveExchange, _ resolved: [String]
    ) throws(TransferError) {
        let wantsNew = exchange.plain?.wantsNew == true
        exchange.isJoined = false
        exchange.plain = PlainHop()
        if !wantsNew, let connection = plain.take(request.place, end: { end($0) }) {
            // libcurl isn't given them now, and mustn't be taken to have them.
            if !resolved.isEmpty {
                for target in lookUpCache.find(hop.url, proxy: nil)?.targets ?? [] { self.resolved[target.key] = nil }
            }
            exchange.beginHop(hop)
            return send(request, exchange, connection)
        }
        exchange.plain?.request = request
        try add(exchange, hop, resolved)
    }

    /// libcurl has made a connection, or couldn't.
    func didConnect(
        _ exchange: ActiveExchange, _ handle: CurlHandle, _ request: PlainRequest, _ error: TransferError?
    ) {
        exchange.plain?.request = nil
        if let error { return hopEnded(exchange, error) }
        // libcurl closes what is its own; while another descriptor stands for the same socket, epoll would go on telling
        // of the closed one.
        let own = transfer_easy_get_socket(handle.raw)
        guard own >= 0 else { return hopEnded(exchange, .lost("it was closed at once")) }
        loop.unregister(own)
        let socket = fcntl(own, F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else {
            return hopEnded(
                exchange,
                TransferError(
                    .internalFault, "no file descriptors left for a connection", cause: .os(errno: errno),
                    isTransient: true))
        }
        exchange.connections += handle.long(CURLINFO_NUM_CONNECTS)
        exchange.plain?.connectTimes = (
            Double(handle.offset(CURLINFO_NAMELOOKUP_TIME_T)) / 1e6,
            Double(handle.offset(CURLINFO_CONNECT_TIME_T)) / 1e6
        )
        let connection = PlainConnection(
            place: request.place, socket: socket, localAddress: handle.string(CURLINFO_LOCAL_IP),
            remoteAddress: handle.string(CURLINFO_PRIMARY_IP))
        release(exchange)
        send(request, exchange, connection)
    }

    private func send(_ request: PlainRequest, _ exchange: ActiveExchange, _ connection: PlainConnection) {
        exchange.plain?.connection = connection
        connection.exchange = exchange
        loop.awaits(answers: 1)
        connection.begin(request)
        // The time to connect had a bound of its own.
        exchange.idleTimeout = exchange.idleTimeout ?? exchange.request.settings.lowSpeedTime
        exchange.noteActivity()
        scheduleIdleCheck(exchange)
        goOn(connection)
    }

    /// Sends what is left to be sent, unless the exchange is held back, and waits for what there is to wait for.
    func goOn(_ connection: PlainConnection) {
        guard let exchange = connection.exchange else { return watch(connection, .readable) }
        guard exchange.holds.isEmpty else { return watch(connection, []) }
        let writing = connection.write()
        let sent = Int64(connection.sent)
        if sent != exchange.sent {
            exchange.sent = sent
            exchange.meter.update(sent: sent)
        }
        watch(connection, writing == .waits ? [.readable, .writable] : .readable)
    }

    private func watch(_ connection: PlainConnection, _ events: ReadyEvents) {
        guard connection.watched != events else { return }
        connection.watched = events
        guard !events.isEmpty else { return loop.unregister(connection.socket) }
        loop.register(connection.socket, for: events) { [weak self, weak connection] ready in
            guard let connection else { return }
            self?.onLoop { $0.ready(connection, ready) }
        }
    }

    func ready(_ connection: PlainConnection, _ ready: ReadyEvents) {
        if ready.contains(.writable) { goOn(connection) }
        guard !ready.isDisjoint(with: [.readable, .failed]), connection.watched.contains(.readable) else { return }
        switch connection.read(plain.buffer) {
        case .nothing: break
        case .bytes(let count):
            guard let exchange = connection.exchange else { return discard(connection) }
            received(UnsafeRawBufferPointer(rebasing: plain.buffer[..<count]), exchange, connection)
        case .closed:
            guard let exchange = connection.exchange else { return discard(connection) }
            if connection.reader.closed() { return answered(exchange, isAlone: false) }
            lost(
                exchange, connection, connection.reader.hasBegun ? "the answer ended early" : "empty reply from server")
        case .failed(let code):
            guard let exchange = connection.exchange else { return discard(connection) }
            lost(exchange, connection, String(cString: strerror(code)).lowercasedFirst)
        }
    }

    private func received(
        _ bytes: UnsafeRawBufferPointer, _ exchange: ActiveExchange, _ connection: PlainConnection
    ) {
        exchange.noteActivity()
        if exchange.plain?.firstByte == nil { exchange.plain?.firstByte = MonotonicTime.now }
        var position = 0
        do throws(TransferError) {
            while true {
                switch try connection.reader.next(bytes, &position) {
                case .more: return
                case .head(let head):
                    exchange.status = head.status
                    guard head.status >= 200 else {
                        // Nobody asked for another protocol.
                        if head.status == 101 { throw .noAnswer }
                        if head.status > 101 { exchange.events(.interim(head)) }
                        continue
                    }
                    guard exchange.receivedHead(head) else { return hopEnded(exchange, exchange.stopError) }
                case .body(let range):
                    // Never held: see plainRequest.
                    guard case .taken = exchange.receivedBody(UnsafeRawBufferPointer(rebasing: bytes[range])) else {
                        return hopEnded(exchange, exchange.stopError)
                    }
                case .end: return answered(exchange, isAlone: position == bytes.count)
                }
            }
        } catch {
            hopEnded(exchange, error)
        }
    }

    private func answered(_ exchange: ActiveExchange, isAlone: Bool) {
        exchange.plain?.isAlone = isAlone
        hopEnded(exchange, nil)
    }

    /// A connection that had been used before may have been closed by then, for nothing that this request did: it's sent
    /// once more, over a new one (RFC 9112 §9.3.1). libcurl does the same.
    private func lost(_ exchange: ActiveExchange, _ connection: PlainConnection, _ words: String) {
        if connection.served > 0, !connection.reader.hasBegun, let hop = exchange.hop {
            discardUnsent(exchange)
            releasePlain(exchange)
            exchange.plain = PlainHop(wantsNew: true)
            return perform(hop, of: exchange)
        }
        hopEnded(exchange, .lost(words))
    }

    // MARK: The end

    /// Keeps the connection of an exchange for another, where its answer is whole.
    func releasePlain(_ exchange: ActiveExchange) {
        guard let hop = exchange.plain, let connection = hop.connection else { return }
        exchange.plain = nil
        loop.awaits(answers: -1)
        // What comes next may begin with a look-up and a connection, which have bounds of their own.
        exchange.idleTimeout = exchange.request.settings.idleTimeout
        let isFree = connection.finish(isAlone: hop.isAlone)
        guard isFree, !isShutDown else { return end(connection) }
        plain.keep(connection) { end($0) }
        watch(connection, .readable)
    }

    /// One that nobody uses.
    private func discard(_ connection: PlainConnection) {
        plain.remove(connection)
        end(connection)
    }

    /// Closes it, once the last that holds it lets go.
    func end(_ connection: PlainConnection) {
        connection.exchange = nil
        watch(connection, [])
    }

    func plainMetrics(_ exchange: ActiveExchange) -> ExchangeMetrics {
        var metrics = ExchangeMetrics()
        guard let hop = exchange.plain, let connection = hop.connection else { return metrics }
        metrics.nameLookup = hop.connectTimes?.nameLookup ?? 0
        metrics.connect = hop.connectTimes?.connect ?? 0
        metrics.firstByte = hop.firstByte.map { ($0 - hop.start).inSeconds } ?? 0
        metrics.total = (MonotonicTime.now - hop.start).inSeconds
        let minor = connection.reader.minorVersion
        metrics.httpVersion = minor.map { Int($0 == 0 ? CURL_HTTP_VERSION_1_0 : CURL_HTTP_VERSION_1_1) } ?? 0
        metrics.connectionsMade = exchange.connections
        metrics.redirects = exchange.machine.redirectCount
        metrics.localAddress = connection.localAddress
        metrics.remoteAddress = connection.remoteAddress
        return metrics
    }
}

extension TransferError {
    fileprivate static func lost(_ words: String) -> TransferError {
        TransferError(.connectionLost, "connection lost: \(words)", isTransient: true)
    }
}
