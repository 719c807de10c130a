import Synchronization
import TransferCore

// The connections of a stream besides the leading one. Their bytes wait until all bytes before them were handed on.
extension RemoteStream {
    /// The facts by which the number of connections is chosen.
    var reading: (connections: Int, givesParts: Bool, worked: Double) {
        state.withLock { state in
            let handles = (state.handle.map { [$0] } ?? []) + (state.ahead?.handles ?? [])
            return (
                state.ahead?.connections ?? 1, state.ahead?.givesParts ?? false, handles.map(\.workedTime).max() ?? 0
            )
        }
    }

    /// Sets the number of connections, where the server gives parts.
    ///
    /// - Parameters:
    ///   - pace: The rate of one connection in bytes a second.
    ///   - now: The time in seconds of any monotonic clock.
    func spread(over count: Int, pace: Double, now: Double, _ source: RemoteSource) {
        state.withLock { $0.ahead?.spread(over: count, pace: pace, now: now) }
        fill(source)
    }

    /// Lets the head wait, as its request was refused and one connection would not have made it.
    ///
    /// - Returns: `false` where the error ends the stream.
    func waits(after error: TransferError, _ source: RemoteSource) -> Bool {
        let (isPaused, connections, working) = state.withLock { state in
            let isPaused = state.ahead?.pauseHead(after: error, now: Self.now) ?? false
            return (isPaused, state.ahead?.connections ?? 0, state.ahead?.working ?? 0)
        }
        if isPaused {
            source.tell(.lost(error, status: error.status, connections: connections + 1, working: working))
        }
        return isPaused
    }

    /// Ends the exchanges that do not move: those of chunks while others move, and one at the head that one connection
    /// would not have made, before its first byte.
    func endStalled(now: Double) {
        let handles = state.withLock { state -> [ExchangeHandle] in
            var handles = state.ahead?.stalled(now: now) ?? []
            if state.fruitless < Self.mostFruitless, state.ahead?.hasEndedLeader == true,
                state.position == state.began, now - state.beganTime >= OrderedRanges.stall, let handle = state.handle
            {
                handles.append(handle)
            }
            return handles
        }
        for handle in handles {
            handle.cancel(
                TransferError(.timedOut, "nothing came while other connections brought something", isTransient: true))
        }
    }

    /// Permits further connections, if an answer shows that the server gives parts of this version.
    func answered(_ number: Int, _ start: BodyStart, _ version: RemoteVersion, isProven: Bool) {
        state.withLock { state in
            guard state.number == number, !state.isWhole, state.ahead == nil,
                ReadAhead.isPossible(start, version, isProven: isProven)
            else { return }
            state.ahead = ReadAhead(total: version.size, head: state.position)
        }
    }

    /// Gives the other connections up. The leading exchange reads on alone.
    func readAlone() {
        let handles = state.withLock { state in
            defer { state.ahead = nil }
            return state.ahead?.handles ?? []
        }
        for handle in handles { handle.cancel(.partDone) }
    }

    /// Requests the chunks that may be fetched now, and starts an exchange at the head where none brings its bytes.
    func fill(_ source: RemoteSource) {
        let (url, chunks, needsLead) = state.withLock { state -> (Int, [OrderedRanges.Chunk], Bool) in
            guard !state.isClosed, state.ahead != nil else { return (0, [], false) }
            let needsLead = state.ahead?.needsLead == true
            // The exchange takes its place before chunks are planned behind it.
            if needsLead { _ = state.ahead?.lead() }
            return (state.url, state.ahead?.claim(before: state.reserved) ?? [], needsLead)
        }
        if needsLead { start(source) }
        for chunk in chunks { open(chunk, of: url, source) }
    }

    private func open(_ chunk: OrderedRanges.Chunk, of url: Int, _ source: RemoteSource) {
        let number = chunk.number
        let request: ExchangeRequest
        do throws(TransferError) {
            request = try source.requests(url, point(source, url, chunk.start..<chunk.end))
        } catch {
            return ended(chunk: number, error, status: nil, source)
        }
        source.tell(.opened(url))
        let handle = source.engine.start(request, meter: ExchangeMeter(path: source.path)) { [source] in
            AheadSink(source, self, chunk: chunk)
        } events: { [source] event in
            guard case .ended(let outcome) = event else { return }
            source.tell(.closed(url, bytes: outcome.received))
            let error: TransferError? = if case .failure(let error) = outcome.result { error } else { nil }
            self.ended(chunk: number, error, status: outcome.head?.status, source)
        }
        let isWanted = state.withLock { $0.ahead?.began(number, handle) ?? false }
        if !isWanted { handle.cancel(.partDone) }
    }

    /// Takes bytes of a chunk.
    ///
    /// - Returns: Whether more of them are wanted.
    func came(ahead bytes: UnsafeRawBufferPointer, of number: Int, _ source: RemoteSource) -> Bool {
        source.fetched(bytes.count)
        let isWanted = state.withLock { $0.isClosed ? false : $0.ahead?.received(number, bytes) ?? false }
        drain(source)
        return isWanted
    }

    private func ended(chunk number: Int, _ error: TransferError?, status: Int?, _ source: RemoteSource) {
        let isRefusal = status.map { $0 == 429 || $0 >= 500 } ?? false
        let isFinal = error?.code == .badResponse || error?.code == .sourceChanged || status.map { $0 >= 400 } ?? false
        let (isDone, connections, working) = state.withLock { state -> (Bool, Int, Int) in
            guard !state.isClosed, state.ahead != nil else { return (true, 0, 0) }
            let isDone = state.ahead?.ended(number, isFinal: isFinal && !isRefusal) ?? true
            return (isDone, state.ahead?.connections ?? 0, state.ahead?.working ?? 0)
        }
        if !isDone, let error {
            source.tell(.lost(error, status: status, connections: connections + 1, working: working))
        }
        drain(source)
    }

    /// Hands on the bytes at the head that have come, while the pipe takes them.
    func drain(_ source: RemoteSource) {
        while true {
            let piece = state.withLock { state -> (bytes: [UInt8], offset: Int64)? in
                // No copy of the state is made, because its bytes would be copied with it.
                guard !state.isClosed, state.ahead?.isDelivering == false, state.ahead?.ranges.ready != nil,
                    pipe.isReady, let bytes = state.ahead?.next()
                else { return nil }
                defer { state.position += Int64(bytes.count) }
                state.ahead?.isDelivering = true
                return (bytes, state.position)
            }
            guard let piece else { break }
            piece.bytes.withUnsafeBytes { deliver($0, at: piece.offset, source) }
            state.withLock { $0.ahead?.isDelivering = false }
            fill(source)
        }
        fill(source)
    }

    /// Resumes the reading, as the pipe has room again.
    func proceed(_ source: RemoteSource) {
        let handle = state.withLock { $0.handle }
        handle?.proceed()
        drain(source)
    }
}
