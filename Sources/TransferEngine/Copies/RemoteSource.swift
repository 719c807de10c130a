import Synchronization
public import TransferCore
public import TransferCrypto

/// A file on another server, as the source of an upload: nothing of it touches a disk.
///
/// Windows of it are bodies of requests (``RequestBody/window(_:)``). They are read from streams: exchanges that begin at
/// an offset and go on to the end, so that windows which follow each other share one. A stream that is lost goes on where
/// it was, under the condition that it's the same version; requests that send it on don't notice.
public final class RemoteSource: Sendable {
    /// Makes the request for a part of one of its URLs, or for all of it; signatures may be as old as the request.
    public typealias Requests = @Sendable (_ url: Int, _ point: ResumePoint?) throws(TransferError) -> ExchangeRequest

    /// The URLs that have it, redacted; mirrors follow the first.
    public let urls: [String]
    /// Whether digests of the whole will be compared, so that parts need no validator and may come from any mirror.
    public var isProven: Bool { expected != nil }
    /// The digest that all of it has to have. Its last byte isn't handed on before it's known to have it, as far as all has
    /// come in its order.
    public let expected: Checksum?
    let engine: ExchangeEngine
    let requests: Requests
    private let digesting: OrderedDigest
    private let heard: @Sendable (News) -> Void

    /// An event on the way, for whoever tells of it. Numbers are those of URLs.
    public enum News: Sendable {
        case opened(Int)
        /// A connection is over, with the bytes that it brought.
        case closed(Int, bytes: Int64)
        /// Another URL is asked from now on.
        case dropped(Int, TransferError)
        /// 4 MiB more are in the digest: what is written down now can be gone on with after a kill.
        case advanced
    }

    private struct State {
        var version: RemoteVersion?
        var streams: [RemoteStream] = []
        var isClosed = false
        /// Bytes that were in the digest at the last checkpoint.
        var noted: Int64
        /// Bytes that came over the network.
        var received: Int64 = 0
        /// The beginning of the file, once it has come; no longer than ``beginningLength``.
        var beginning: [UInt8] = []
    }

    /// Bytes of the file's beginning by which a part is told from it.
    static let beginningLength = 4 << 10

    private let state: Mutex<State>

    /// - Parameters:
    ///   - version: Of an earlier attempt: any other one is none of this upload.
    ///   - expected: The digest that it has to have.
    ///   - digest: Of what an earlier attempt read of that version; begun anew where another algorithm is expected.
    ///   - heard: Called on any thread.
    public init(
        _ urls: [String], version: RemoteVersion? = nil, expected: Checksum?, digest: DurableDigest?,
        engine: ExchangeEngine, heard: @escaping @Sendable (News) -> Void, requests: @escaping Requests
    ) {
        self.urls = urls
        self.expected = expected
        let algorithm = expected?.algorithm ?? .sha256
        let known = digest.flatMap { version != nil && $0.algorithm == algorithm ? $0 : nil }
        digesting = OrderedDigest(known ?? DurableDigest(algorithm))
        self.heard = heard
        self.engine = engine
        self.requests = requests
        state = Mutex(State(version: version, noted: known?.count ?? 0))
    }

    deinit { close() }

    /// `nil` until a server has told it.
    public var version: RemoteVersion? { state.withLock { $0.version } }

    /// Bytes; 0 until a server has told.
    public var size: Int64 { version?.size ?? 0 }

    /// Bytes that came over the network so far.
    public var received: Int64 { state.withLock { $0.received } }

    /// The digest of all of it, once all has come in its order.
    public var digest: Checksum? { digesting.whole(size) }

    /// The digest of what has come in its order.
    public var progress: DurableDigest { digesting.current }

    /// Bytes that exchanges under way have brought, by the numbers of the URLs.
    public var underWay: [Int: Int64] {
        let streams = state.withLock { $0.streams }
        return streams.map(\.underWay).reduce(into: [:]) { $0[$1.url, default: 0] += $1.bytes }
    }

    /// Asks for all of it, and calls back once the server has said what it has: the body waits until a window is read.
    /// A server whose version is known is asked when the first window is read.
    ///
    /// - Parameter then: Called once, on any thread; without a length there's nothing that could be sent.
    public func open(then: @escaping @Sendable (Result<RemoteVersion, TransferError>) -> Void) {
        if let version { return then(.success(version)) }
        let stream = RemoteStream(from: 0)
        state.withLock { $0.streams.append(stream) }
        stream.begin(self, then)
    }

    /// A window of it as a request's body.
    ///
    /// - Parameter sums: The digest of the range is made while it's sent (``RemoteWindow/digest``).
    public func window(
        _ range: Range<Int64>, prefix: [UInt8] = [], suffix: [UInt8] = [], sums: DigestAlgorithm? = nil
    ) -> RemoteWindow {
        RemoteWindow(self, range, prefix: prefix, suffix: suffix, sums: sums)
    }

    /// Makes the digest of a range; it's read for that, unless it's all of it and known.
    ///
    /// - Parameter then: Called once, on any thread.
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

    /// Gives up all that is under way.
    public func close() {
        let streams = state.withLock { state in
            state.isClosed = true
            defer { state.streams = [] }
            return state.streams
        }
        for stream in streams { stream.close() }
    }

    // MARK: Streams

    /// The stream that brings the window: one that ends where it begins, or another one.
    func stream(for range: Range<Int64>) -> RemoteStream? {
        let (found, isNew, outlived) = state.withLock { state -> (RemoteStream?, Bool, [RemoteStream]) in
            guard !state.isClosed else { return (nil, false, []) }
            if let stream = state.streams.first(where: { $0.reserve(range) }) { return (stream, false, []) }
            // A stream that nobody waits for only holds a connection.
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

    /// Whether a part can be told from the file's beginning, which a server that ignores offsets would send in its place.
    func canTellParts(of url: String) -> Bool {
        guard FileServerURL.mayIgnoreOffsets(url) else { return true }
        return state.withLock { $0.beginning.count == Self.beginningLength }
    }

    /// Whether bytes of a part are those of the file's beginning.
    func isBeginning(_ bytes: [UInt8]) -> Bool {
        state.withLock { !bytes.isEmpty && $0.beginning.starts(with: bytes) }
    }

    func ended(_ stream: RemoteStream) {
        state.withLock { $0.streams.removeAll { $0 === stream } }
    }

    /// - Returns: Whether that is the version that is wanted, which the first answer decides.
    func accept(_ version: RemoteVersion, _ head: ResponseHead) -> Bool {
        state.withLock { state in
            guard let known = state.version else {
                state.version = version
                return true
            }
            return known.isShown(by: head, total: version.size, isProven: isProven)
        }
    }

    /// The offset at which the reading of a window begins: before the window where the digest lacks bytes, if the copy is
    /// proven by it or they are few.
    private func lead(_ start: Int64) -> Int64 {
        let count = digesting.current.count
        guard count < start, isProven || start - count <= Self.step else { return start }
        return count
    }

    /// Bytes between two checkpoints.
    private static let step: Int64 = 4 << 20

    /// Bytes have come.
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

    /// Why its last byte isn't handed on.
    var refutation: TransferError? {
        guard let expected, let digest, digest != expected else { return nil }
        var error = TransferError(
            .checksumMismatch,
            "\(expected.algorithm.rawValue) of the source differs: it's \(digest.hex), not \(expected.hex); its last bytes "
                + "weren't sent on")
        error.sourceHost = Origin(anyURL: urls[0])?.hostAndPort
        return error
    }

    /// The error of a source that isn't what it was.
    public static let changed = TransferError(
        .sourceChanged, "the source has another version now", isTransient: true)

    /// The error of the side that is read from, told as its.
    func fault(_ error: TransferError, of url: Int) -> TransferError {
        var error = error
        error.message = "the source: \(error.message)"
        error.sourceHost = Origin(anyURL: urls[url])?.hostAndPort
        // Nothing is known against the destination.
        error.scope = .transfer
        return error
    }
}
