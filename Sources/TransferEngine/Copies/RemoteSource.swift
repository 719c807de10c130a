import Synchronization
public import TransferCore
public import TransferCrypto

/// A file on another server, as the source of an upload that stores nothing on a disk.
///
/// Windows of the file are bodies of requests (``RequestBody/window(_:)``). They are read from streams: exchanges that
/// begin at an offset and continue to the end, so that consecutive windows share one. A stream may read ahead over several
/// connections (``spread(over:pace:now:)``). A lost stream continues where it was, if the version is the same. Requests
/// that send it on do not notice.
public final class RemoteSource: Sendable {
    /// A closure that makes the request for a part of one of the URLs, or for all of it. Signatures may be as old as
    /// the request.
    public typealias Requests = @Sendable (_ url: Int, _ point: ResumePoint?) throws(TransferError) -> ExchangeRequest

    /// The URLs of the file, redacted; mirrors follow the first.
    public let urls: [String]
    /// Whether digests of the whole will be compared, so that parts need no validator and may come from any mirror.
    public var isProven: Bool { expected != nil }
    /// The digest that the whole file must have.
    ///
    /// The last byte is not handed on before the digest is verified, provided that all bytes have come in their order.
    public let expected: Checksum?
    let engine: any ExchangePerformer
    let requests: Requests
    /// The kernel's measurements of the connections to the source.
    public let path = PathMeter()
    /// The bytes that have come over the network, those that wait for others included.
    private let fetchedCount = Atomic<Int64>(0)
    private let digesting: OrderedDigest
    /// The version that an earlier attempt of this process saw, which began anew since.
    private let earlier: RemoteVersion?
    private let promised: @Sendable (ResponseHead) -> Checksum?
    private let heard: @Sendable (News) -> Void

    /// An event for observers. Its numbers are indices of ``urls``.
    public enum News: Sendable {
        case opened(Int)
        /// A connection has ended, with the bytes that it brought.
        case closed(Int, bytes: Int64)
        /// A URL was given up for its error: the next one is asked from now on.
        case dropped(Int, TransferError)
        /// A connection that read ahead has ended before the end of its part.
        ///
        /// - Parameters:
        ///   - connections: The number of connections, including the lost one.
        ///   - working: The number of the remaining ones that have brought bytes.
        case lost(TransferError, status: Int?, connections: Int, working: Int)
        /// 4 MiB more are in the digest: a checkpoint that is written now can be resumed after a kill.
        case advanced
    }

    private struct State {
        var version: RemoteVersion?
        /// The digest of the whole file that its server reported.
        var promise: Checksum?
        var streams: [RemoteStream] = []
        var isClosed = false
        /// The bytes that were in the digest at the last checkpoint.
        var noted: Int64
        /// The bytes that came over the network.
        var received: Int64 = 0
        /// The beginning of the file, once it has come; no longer than ``beginningLength``.
        var beginning: [UInt8] = []
    }

    /// The number of bytes of the file's beginning by which a part is distinguished from it.
    static let beginningLength = 4 << 10

    private let state: Mutex<State>

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - version: The version of an earlier attempt; any other version is refused.
    ///   - earlier: A version that was seen before. A newer one is accepted, but not an answer that is none, such as a
    ///     login page.
    ///   - expected: The digest that the file must have.
    ///   - digest: The digest of the bytes that an earlier attempt read of that version. It begins anew if another
    ///     algorithm is expected.
    ///   - promised: A closure that reads the digest of the whole file from the head of an answer.
    ///   - heard: A closure that receives events, on any thread.
    package init(
        _ urls: [String], version: RemoteVersion? = nil, earlier: RemoteVersion? = nil, expected: Checksum?,
        digest: DurableDigest?, engine: any ExchangePerformer,
        promised: @escaping @Sendable (ResponseHead) -> Checksum? = { _ in nil },
        heard: @escaping @Sendable (News) -> Void, requests: @escaping Requests
    ) {
        self.urls = urls
        self.expected = expected
        self.earlier = earlier
        self.promised = promised
        let algorithm = expected?.algorithm ?? .sha256
        let known = digest.flatMap { version != nil && $0.algorithm == algorithm ? $0 : nil }
        digesting = OrderedDigest(known ?? DurableDigest(algorithm))
        self.heard = heard
        self.engine = engine
        self.requests = requests
        state = Mutex(State(version: version, noted: known?.count ?? 0))
    }

    deinit { close() }

    /// The version of the file; `nil` until a server has reported it.
    public var version: RemoteVersion? { state.withLock { $0.version } }

    /// The length in bytes; 0 until a server has reported it.
    public var size: Int64 { version?.size ?? 0 }

    /// The bytes that came over the network so far.
    public var received: Int64 { state.withLock { $0.received } }

    /// The digest of the whole file, once all bytes have come in their order.
    public var digest: Checksum? { digesting.whole(size) }

    /// The digest of the bytes that have come in their order.
    public var progress: DurableDigest { digesting.current }

    /// The bytes that current exchanges have brought, by the indices of their URLs.
    public var underWay: [Int: Int64] {
        let streams = state.withLock { $0.streams }
        return streams.map(\.underWay).reduce(into: [:]) { $0[$1.url, default: 0] += $1.bytes }
    }

    // MARK: The number of connections

    /// The facts by which the number of connections is chosen.
    public struct Reading: Sendable {
        /// The bytes that have come over the network.
        public var fetched: Int64
        /// The number of connections under way.
        public var connections: Int
        /// Whether the server gives parts of this version, as its answers show.
        public var givesParts: Bool
        /// The processor time in seconds of the busiest thread that carries one of them.
        public var worked: Double
        /// Whether the destination had to wait for bytes since the last reading.
        public var isAwaited: Bool
    }

    /// Measures the connections; `nil` while several windows are read at different places.
    public func measure() -> Reading? {
        guard let stream = busy else { return nil }
        let (connections, givesParts, worked) = stream.reading
        return Reading(
            fetched: fetchedCount.load(ordering: .relaxed), connections: connections, givesParts: givesParts,
            worked: worked, isAwaited: stream.pipe.takeEmptiness())
    }

    /// The only stream that is read; `nil` where there are several.
    private var busy: RemoteStream? {
        let streams = state.withLock { $0.streams }
        return streams.count == 1 ? streams[0] : nil
    }

    /// Sets the number of connections that read the source, and ends those that do not move.
    ///
    /// - Parameters:
    ///   - count: The number, at most ``mostConnections``. There are fewer where the server gives no parts, and where
    ///     no bytes are wanted yet.
    ///   - pace: The rate of one connection in bytes a second.
    ///   - now: The time in seconds of any monotonic clock.
    public func spread(over count: Int, pace: Double, now: Double) {
        let only = busy
        for stream in state.withLock({ $0.streams }) {
            stream.endStalled(now: now)
            stream.spread(over: stream === only ? count : 1, pace: pace, now: now, self)
        }
    }

    /// The most connections of one source.
    public static var mostConnections: Int { ReadAhead.mostConnections }

    /// The least size in bytes of a source that is read over several connections.
    public static var smallestShared: Int64 { ReadAhead.smallest }

    func fetched(_ count: Int) { fetchedCount.add(Int64(count), ordering: .relaxed) }

    /// Asks for the whole file, and calls back once the server has described it. The body waits until a window is read.
    ///
    /// A server whose version is known is asked when the first window is read.
    ///
    /// - Parameter then: A closure that is called once, on any thread. A file without a length fails, as it cannot be
    ///   sent.
    public func open(then: @escaping @Sendable (Result<RemoteVersion, TransferError>) -> Void) {
        if let version { return then(.success(version)) }
        let stream = RemoteStream(from: 0)
        state.withLock { $0.streams.append(stream) }
        stream.begin(self, then)
    }

    /// Returns a window of the file as a request's body.
    ///
    /// - Parameter sums: The algorithm of a digest that is made while the range is sent (``RemoteWindow/digest``).
    public func window(
        _ range: Range<Int64>, prefix: [UInt8] = [], suffix: [UInt8] = [], sums: DigestAlgorithm? = nil
    ) -> RemoteWindow {
        RemoteWindow(self, range, prefix: prefix, suffix: suffix, sums: sums)
    }

    /// Makes the digest of a range. The range is read for that, unless it is the whole file and its digest is known.
    ///
    /// - Parameter then: A closure that is called once, on any thread.
    public func digest(
        _ range: Range<Int64>, _ algorithm: DigestAlgorithm,
        then: @escaping @Sendable (Result<Checksum, TransferError>) -> Void
    ) {
        if range == 0..<size, let digest, digest.algorithm == algorithm { return then(.success(digest)) }
        let stream = RemoteStream(from: range.lowerBound)
        _ = stream.reserve(range)
        state.withLock { $0.streams.append(stream) }
        stream.begin(self)
        RangeDigest(self, stream, range, algorithm, then: then).read()
    }

    /// Cancels all current exchanges.
    public func close() {
        let streams = state.withLock { state in
            state.isClosed = true
            defer { state.streams = [] }
            return state.streams
        }
        for stream in streams { stream.close() }
    }

    // MARK: Streams

    /// Returns the stream that brings the window: one that ends where the window begins, or a new one.
    func stream(for range: Range<Int64>) -> RemoteStream? {
        let (found, isNew, outlived) = state.withLock { state -> (RemoteStream?, Bool, [RemoteStream]) in
            guard !state.isClosed else { return (nil, false, []) }
            if let stream = state.streams.first(where: { $0.reserve(range) }) { return (stream, false, []) }
            // A stream without a reader only holds a connection.
            let idle = state.streams.filter(\.isIdle)
            state.streams.removeAll(where: \.isIdle)
            let stream = RemoteStream(from: range.lowerBound, reading: lead(range.lowerBound))
            _ = stream.reserve(range)
            state.streams.append(stream)
            return (stream, true, idle)
        }
        for stream in outlived { stream.close() }
        if isNew { found?.begin(self) }
        return found
    }

    func tell(_ news: News) { heard(news) }

    /// Returns whether a part can be distinguished from the file's beginning, which a server that ignores offsets sends
    /// instead.
    func canTellParts(of url: String) -> Bool {
        guard FileServerURL.mayIgnoreOffsets(url) else { return true }
        return state.withLock { $0.beginning.count == Self.beginningLength }
    }

    /// Returns whether the bytes of a part are those of the file's beginning.
    func isBeginning(_ bytes: [UInt8]) -> Bool {
        state.withLock { !bytes.isEmpty && $0.beginning.starts(with: bytes) }
    }

    func ended(_ stream: RemoteStream) {
        state.withLock { $0.streams.removeAll { $0 === stream } }
    }

    /// Compares a version with the wanted one, which the first answer determines.
    ///
    /// - Throws: The reason why the answer does not have the wanted version.
    func accept(_ version: RemoteVersion, _ head: ResponseHead) throws(TransferError) {
        let refusal = state.withLock { state -> TransferError? in
            if let known = state.version {
                guard known.isShown(by: head, total: version.size, isProven: isProven) else {
                    return Self.unlike(known, head)
                }
            } else {
                if let earlier, let refusal = earlier.refusal(of: head) { return refusal }
                state.version = version
            }
            if state.promise == nil { state.promise = promised(head) }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Returns the error of an answer that does not have the known version: it has another one, or is no version at all.
    static func unlike(_ known: RemoteVersion, _ head: ResponseHead) -> TransferError {
        known.refusal(of: head) ?? changed
    }

    /// Returns the offset at which the reading of a window begins.
    ///
    /// Reading begins before the window if the digest lacks bytes there, and proves the copy or lacks only a few.
    private func lead(_ start: Int64) -> Int64 {
        let count = digesting.current.count
        guard count < start, isProven || start - count <= Self.step else { return start }
        return count
    }

    /// The bytes between two checkpoints.
    private static let step: Int64 = 4 << 20

    /// Notes that bytes have come.
    func came(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let count = digesting.add(bytes, at: offset)
        let isDue = state.withLock { state in
            state.received += Int64(bytes.count)
            let known = state.beginning.count
            if offset == Int64(known), known < Self.beginningLength {
                state.beginning += bytes.prefix(Self.beginningLength - known)
            }
            guard count - state.noted >= Self.step else { return false }
            state.noted = count
            return true
        }
        if isDue { heard(.advanced) }
    }

    /// The error for which the last byte is not handed on.
    var refutation: TransferError? {
        guard let digest else { return nil }
        let promise = state.withLock { $0.promise }
        guard let wanted = expected ?? promise, digest.algorithm == wanted.algorithm, digest != wanted else {
            return nil
        }
        let reason = expected == nil ? ", as its server says in Repr-Digest" : ""
        var error = TransferError(
            .checksumMismatch,
            "\(wanted.algorithm.rawValue) of the source differs: it is \(digest.hex), not \(wanted.hex)\(reason); its last "
                + "bytes were not sent on")
        error.sourceHost = Origin(anyURL: urls[0])?.hostAndPort
        return error
    }

    /// The error of a source whose version has changed.
    public static let changed = TransferError(
        .sourceChanged, "the source has another version now", isTransient: true)

    /// Marks an error as one of the side that is read from.
    func fault(_ error: TransferError, of url: Int) -> TransferError {
        var error = error
        error.message = "the source: \(error.message)"
        error.sourceHost = Origin(anyURL: urls[url])?.hostAndPort
        // The error says nothing against the destination.
        error.scope = .transfer
        return error
    }
}
