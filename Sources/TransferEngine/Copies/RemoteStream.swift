import Synchronization
import TransferCore
import TransferEventLoop

/// A reading of a ``RemoteSource`` from an offset on, over as many exchanges as necessary.
final class RemoteStream: Sendable {
    typealias Opened = @Sendable (Result<RemoteVersion, TransferError>) -> Void

    struct State {
        var handle: ExchangeHandle?
        /// The number of the exchange that counts: reports of earlier ones are ignored.
        var number = 0
        /// The offset of the next byte that comes.
        var position: Int64
        /// The position at which the exchange under way began.
        var began: Int64 = 0
        /// The time at which it began, in seconds of the monotonic clock.
        var beganTime = 0.0
        /// The offset behind the last window that is read from the stream.
        var reserved: Int64
        var isClosed = false
        /// The index of the URL that is asked.
        var url = 0
        /// The exchanges with this URL since one of them brought progress (``ProgressRule``).
        var fruitless = 0
        /// Whether the server gives no parts, so that bytes come again and are dropped.
        var isWhole = false
        /// The closure that receives the description in the first answer.
        var opened: Opened?
        /// The connections that read ahead; `nil` while the server is not known to give parts.
        var ahead: ReadAhead?
    }

    let state: Mutex<State>
    /// The offset of the first byte that a reader wants.
    private let start: Int64
    let pipe: BodyPipe

    /// The number of exchanges in a row that may bring no progress, for each URL.
    static let mostFruitless = 2

    /// The time of the monotonic clock in seconds.
    static var now: Double { Double(MonotonicTime.now.nanoseconds) / 1e9 }

    /// Creates a stream.
    ///
    /// - Parameter lead: The offset at which the reading begins, if bytes before `offset` are read for the digest only.
    init(from offset: Int64, reading lead: Int64? = nil) {
        state = Mutex(State(position: lead ?? offset, reserved: offset))
        start = offset
        pipe = BodyPipe(from: offset)
    }

    /// The URL that is asked, and the bytes that the current exchanges have brought.
    var underWay: (url: Int, bytes: Int64) {
        state.withLock { state in
            let leading = state.ahead.map { $0.ranges.leadEnd == nil } == true ? 0 : state.position - state.began
            return (state.url, leading + (state.ahead?.ranges.underWay ?? 0))
        }
    }

    /// Reads a window from the stream, if the window begins where the last one ends.
    func reserve(_ range: Range<Int64>) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.reserved == range.lowerBound else { return false }
            state.reserved = range.upperBound
            return true
        }
    }

    /// Whether all requested bytes have been taken.
    var isIdle: Bool {
        let given = pipe.given
        return state.withLock { given >= $0.reserved }
    }

    func begin(_ source: RemoteSource, _ opened: Opened? = nil) {
        state.withLock { $0.opened = opened }
        start(source)
    }

    func close() {
        let handle = state.withLock { state in
            state.isClosed = true
            state.opened = nil
            defer { state.handle = nil }
            return state.handle
        }
        handle?.cancel()
        readAlone()
        pipe.close()
    }

    // MARK: Exchanges

    func start(_ source: RemoteSource) {
        let size = source.size
        let (number, url, range, isWhole) = state.withLock { state in
            state.number += 1
            (state.began, state.beganTime) = (state.position, Self.now)
            if state.position > 0, !source.canTellParts(of: source.urls[state.url]) { state.isWhole = true }
            let end = state.ahead?.lead() ?? max(state.position, size)
            return (state.number, state.url, state.position..<end, state.isWhole)
        }
        let position = range.lowerBound
        let request: ExchangeRequest
        do throws(TransferError) {
            request = try source.requests(url, isWhole ? nil : point(source, url, range))
        } catch {
            return fail(source, error)
        }
        source.tell(.opened(url))
        let handle = source.engine.start(request, meter: ExchangeMeter(path: source.path)) { [source] in
            RemoteSink(source, self, number: number, from: isWhole ? 0 : position, wanted: position)
        } events: { [source] event in
            guard case .ended(let outcome) = event else { return }
            source.tell(.closed(url, bytes: outcome.received))
            self.ended(source, number, outcome)
        }
        pipe.setWriter { [weak self, weak source] in
            if let self, let source { self.proceed(source) }
        }
        let isWanted = state.withLock { state in
            guard !state.isClosed, state.number == number else { return false }
            state.handle = handle
            return true
        }
        if !isWanted { handle.cancel() }
    }

    /// Returns the part that the server is asked for; `nil` asks for the whole file.
    func point(
        _ source: RemoteSource, _ url: Int, _ range: Range<Int64>
    ) throws(TransferError) -> ResumePoint? {
        let position = range.lowerBound
        guard position > 0, let version = source.version else { return nil }
        guard source.isProven || version.validator?.ifRange != nil else {
            throw TransferError(
                .connectionLost, "its server reports no version by which the copy could be continued", isTransient: true
            )
        }
        var point = ResumePoint(
            offset: position, validator: url == 0 ? version.validator : nil, total: version.size,
            isVerifiedByDigest: source.isProven)
        point.contentCoding = version.labels.coding?.lowercased()
        point.isPart = true
        point.end = range.upperBound
        point.namesEnd = !FileServerURL.isMeant(by: source.urls[url])
        return point
    }

    func answered(_ number: Int, _ result: Result<RemoteVersion, TransferError>) {
        let opened = state.withLock { state -> Opened? in
            guard state.number == number else { return nil }
            defer { state.opened = nil }
            return state.opened
        }
        opened?(result)
    }

    /// Takes bytes of an exchange.
    ///
    /// - Returns: Whether further bytes are wanted.
    func came(_ bytes: UnsafeRawBufferPointer, of number: Int, _ source: RemoteSource) -> Bool {
        source.fetched(bytes.count)
        let step = state.withLock { state -> (offset: Int64, count: Int, dropped: [ExchangeHandle], stops: Bool)? in
            guard !state.isClosed, state.number == number else { return nil }
            let offset = state.position
            let step = state.ahead?.leading(bytes.count) ?? OrderedRanges.Step(count: bytes.count)
            state.position += Int64(step.count)
            if ProgressRule.isProgress(state.position - state.began) { state.fruitless = 0 }
            if step.stops {
                state.number += 1
                state.handle = nil
            }
            return (offset, step.count, state.ahead?.drop(step.dropped) ?? [], step.stops)
        }
        guard let step else { return false }
        for handle in step.dropped { handle.cancel(.partDone) }
        deliver(UnsafeRawBufferPointer(rebasing: bytes[..<step.count]), at: step.offset, source)
        guard step.stops else {
            fill(source)
            return true
        }
        state.withLock { $0.ahead?.isDelivering = false }
        drain(source)
        return false
    }

    /// Hands bytes on, which follow those that were handed on before.
    func deliver(_ bytes: UnsafeRawBufferPointer, at offset: Int64, _ source: RemoteSource) {
        source.came(bytes, at: offset)
        let unwanted = Int(max(0, min(Int64(bytes.count), start - offset)))
        pipe.write(UnsafeRawBufferPointer(rebasing: bytes[unwanted...]))
    }

    private func ended(_ source: RemoteSource, _ number: Int, _ outcome: ExchangeOutcome) {
        let version = source.version
        let (isCurrent, position, askedForPart, isReplaced) = state.withLock { state in
            let isCurrent = !state.isClosed && state.number == number
            if isCurrent { state.handle = nil }
            return (
                isCurrent, state.position, state.began > 0 && !state.isWhole,
                isCurrent && state.ahead?.ranges.leadEnded() == true
            )
        }
        guard isCurrent, position != version?.size else { return }
        if isReplaced { return drain(source) }
        let error =
            switch outcome.result {
            case .failure(let error): error
            case .success: TransferError(.connectionLost, "the answer ended early", isTransient: true)
            }
        if askedForPart, let head = outcome.head, head.status == 200, let version {
            // The server gives no parts, or another version.
            guard version.isShown(by: head, total: head.contentLength, isProven: source.isProven) else {
                return fail(source, RemoteSource.unlike(version, head))
            }
            state.withLock { $0.isWhole = true }
            readAlone()
            return start(source)
        }
        if error == .offsetIgnored, askedForPart {
            state.withLock { $0.isWhole = true }
            readAlone()
            return start(source)
        }
        goOn(source, after: error, position)
    }

    /// Asks again, or asks another URL, where that may help.
    private func goOn(_ source: RemoteSource, after error: TransferError, _ position: Int64) {
        let mayRepeat = error.isTransient && error.retryAfter == nil && error.code != .sourceChanged
        var dropped: Int?
        let starts = state.withLock { state -> Bool in
            state.fruitless += 1
            if mayRepeat, state.fruitless <= Self.mostFruitless { return true }
            // The bytes of two servers are mixed only where a digest will verify them.
            guard source.isProven || position == 0, error.code != .sourceChanged, state.url + 1 < source.urls.count
            else { return false }
            dropped = state.url
            state.url += 1
            state.fruitless = 0
            state.isWhole = false
            return true
        }
        if let dropped {
            readAlone()
            source.tell(.dropped(dropped, error))
        }
        if starts { return start(source) }
        if !waits(after: error, source) { fail(source, error) }
    }

    private func fail(_ source: RemoteSource, _ error: TransferError) {
        let (url, opened) = state.withLock { state in
            state.isClosed = true
            defer { state.opened = nil }
            return (state.url, state.opened)
        }
        let error = source.fault(error, of: url)
        readAlone()
        source.ended(self)
        pipe.fail(error)
        opened?(.failure(error))
    }
}
