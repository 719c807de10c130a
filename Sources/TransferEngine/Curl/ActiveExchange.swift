import CTransferCurl
import TransferCore
import TransferEventLoop

/// One exchange under way on one loop: the state machine, the sink, and what libcurl's callbacks need.
///
/// Used on its loop's thread only; libcurl holds an unretained pointer to it while its handle is in the multi.
final class ActiveExchange {
    let id: ExchangeID
    let request: ExchangeRequest
    let events: @Sendable (ExchangeEvent) -> Void
    let meter: ExchangeMeter
    let limiters: [RateLimiter]
    var machine: ExchangeMachine
    let sink: any BodySink
    var handle: CurlHandle?
    var hop: Hop?

    /// Why a callback told libcurl to stop; wins over libcurl's own code.
    var stopReason: StopReason?
    /// The block of field lines of the answer that is coming in.
    private var block: [UInt8] = []
    private var status = 0
    private var phase = Phase.head
    private(set) var start: BodyStart?
    private(set) var lastHead: ResponseHead?
    private(set) var received: Int64 = 0
    private(set) var sent: Int64 = 0
    private var dropped = 0
    var connections = 0
    /// When the transfer may go on, while a rate limit holds it.
    var pausedUntil: MonotonicTime?
    var mustPause = false
    var isSuspended = false
    let deadline: MonotonicTime?

    enum StopReason {
        /// The body isn't wanted; what comes next is settled.
        case bodyUnwanted
        case failed(TransferError)
    }

    private enum Phase { case head, body, dropping, trailers }

    init(_ start: ExchangeStart, now: MonotonicTime) {
        id = start.id
        request = start.request
        events = start.events
        meter = start.meter
        limiters = start.limiters
        machine = ExchangeMachine(start.request)
        sink = start.makeSink()
        deadline = start.request.settings.maxTime.map { now + $0 }
    }

    /// A hop begins on a fresh or reset handle.
    func beginHop(_ hop: Hop) {
        self.hop = hop
        stopReason = nil
        phase = .head
        block.removeAll(keepingCapacity: true)
        dropped = 0
        if sent > 0 {
            sent = 0
            meter.update(sent: 0)
        }
    }

    // MARK: Callbacks of libcurl

    /// One line of the head. Returns whether to go on.
    func receivedHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        if line.starts(with: Self.statusPrefix), let status = Self.status(line) {
            self.status = status
            block.removeAll(keepingCapacity: true)
            phase = .head
            return true
        }
        guard phase == .head else { return true }
        let isEnd = line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n")
        guard isEnd else {
            block.append(contentsOf: line)
            return true
        }
        // 1xx answers come before the final one, which starts with a status line of its own.
        guard status >= 200 else { return true }
        return receivedHead(ResponseHead(status: status, block: block))
    }

    private func receivedHead(_ head: ResponseHead) -> Bool {
        lastHead = head
        let target = RedirectRule.isRedirect(head.status) ? redirectTarget(head) : nil
        switch machine.received(head, redirectTarget: target, now: WallClock.seconds) {
        case .deliver(let start):
            phase = .body
            do throws(TransferError) {
                try sink.begin(start)
            } catch {
                stopReason = .failed(error)
                return false
            }
            self.start = start
            meter.update(total: start.total)
            meter.update(position: start.offset)
            if let restart = start.restart { events(.restarted(reason: restart)) }
            events(.responded(start))
            return true
        case .drop:
            phase = .dropping
            // A long body costs more than a new connection.
            if let length = head.contentLength, length > Self.dropLimit {
                stopReason = .bodyUnwanted
                return false
            }
            return true
        }
    }

    /// Returns whether to go on.
    func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // What libcurl held back during a pause may come after a refusal: it would leave a gap in the file.
        guard stopReason == nil else { return false }
        switch phase {
        case .body:
            do throws(TransferError) {
                try sink.write(bytes)
            } catch {
                stopReason = .failed(error)
                return false
            }
            received += Int64(bytes.count)
            meter.update(position: sink.position)
            throttle(bytes.count)
            return true
        case .dropping:
            dropped += bytes.count
            guard dropped <= Self.dropLimit else {
                stopReason = .bodyUnwanted
                return false
            }
            return true
        case .head, .trailers:
            // HTTP/0.9, or a body before its head.
            stopReason = .failed(TransferError(.badResponse, "not an HTTP answer", isTransient: true))
            return false
        }
    }

    /// Fills the buffer with the next bytes of the request's body; `nil` stops the transfer.
    func provideBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count: Int
        switch request.body {
        case .none: count = 0
        case .bytes(let bytes):
            count = min(buffer.count, bytes.count - Int(sent))
            bytes.withUnsafeBytes { source in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[Int(sent)..<Int(sent) + count]))
            }
        case .file(let file):
            do throws(TransferError) {
                // Never more than was announced: a file that grew meanwhile would run into the next request.
                let left = Int(min(Int64(buffer.count), file.size - sent))
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<left])
                count = left == 0 ? 0 : try file.read(into: part, at: sent)
                // Before the last bytes leave: libcurl doesn't ask again once it has as many as were announced.
                if count == 0 && left > 0 || sent + Int64(count) >= file.size && !file.isUnchanged {
                    throw TransferError(
                        .sourceChanged, "\(file.path) changed while it was being sent", isTransient: true)
                }
            } catch {
                stopReason = .failed(error)
                return nil
            }
        }
        sent += Int64(count)
        meter.update(sent: sent)
        throttle(count)
        return count
    }

    /// libcurl wants to send the body again from `offset`.
    func rewindBody(to offset: Int64) {
        sent = offset
        meter.update(sent: offset)
    }

    private func throttle(_ count: Int) {
        guard !limiters.isEmpty else { return }
        for limiter in limiters {
            if let until = limiter.take(count) {
                pausedUntil = max(pausedUntil ?? until, until)
                mustPause = true
            }
        }
    }

    private func redirectTarget(_ head: ResponseHead) -> String? {
        guard let location = head.value("Location"), let base = hop?.url else { return nil }
        return CurlURL.resolve(location, against: base)
    }

    /// What a short body may have for the connection to be kept.
    private static let dropLimit = 64 << 10
    private static let statusPrefix = Array("HTTP/".utf8)

    private static func status(_ line: UnsafeRawBufferPointer) -> Int? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let digits = line[(space + 1)...].prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard digits.count == 3 else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
