public import TransferCore
import TransferCrypto

/// A range of a ``RemoteSource`` as a request's body, with the bytes around it.
public struct RemoteWindow: Sendable {
    let source: RemoteSource
    let range: Range<Int64>
    let prefix: [UInt8]
    let suffix: [UInt8]
    let sums: OrderedDigest?

    init(
        _ source: RemoteSource, _ range: Range<Int64>, prefix: [UInt8], suffix: [UInt8], sums: DigestAlgorithm?
    ) {
        self.sums = sums.map { OrderedDigest(DurableDigest($0)) }
        self.source = source
        self.range = range
        self.prefix = prefix
        self.suffix = suffix
    }

    /// The digest of the range, once all of it has been sent.
    public var digest: Checksum? { sums?.whole(range.upperBound - range.lowerBound) }

    /// The length in bytes.
    var length: Int64 { Int64(prefix.count) + range.upperBound - range.lowerBound + Int64(suffix.count) }
}

/// A provider of a body that comes while it is sent, used on its exchange's loop.
protocol BodyProvider: AnyObject {
    /// Writes the next bytes of the body.
    ///
    /// - Returns: The number of bytes put into `buffer`, 0 at the end, `nil` when the caller has to wait.
    func provide(_ buffer: UnsafeMutableRawBufferPointer) -> Result<Int?, TransferError>
    /// Prepares to provide the body from its beginning again.
    func rewind()
    /// Ends the body: it is no longer needed.
    func close()
}

/// A reader of a window while its exchange sends it.
final class WindowReader: BodyProvider {
    private let window: RemoteWindow
    /// The closure that is called, on any thread, when bytes are there again.
    private let wake: @Sendable () -> Void
    private var stream: RemoteStream?
    /// The bytes of the body that have been provided.
    private var given: Int64 = 0

    init(_ window: RemoteWindow, wake: @escaping @Sendable () -> Void) {
        self.window = window
        self.wake = wake
    }

    func provide(_ buffer: UnsafeMutableRawBufferPointer) -> Result<Int?, TransferError> {
        let inside = given - Int64(window.prefix.count)
        let size = window.range.upperBound - window.range.lowerBound
        if inside < 0 { return copy(window.prefix[Int(given)...], to: buffer) }
        if inside >= size { return copy(window.suffix[Int(inside - size)...], to: buffer) }
        guard !buffer.isEmpty else { return .success(nil) }
        let wanted = Int(min(Int64(buffer.count), size - inside))
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
        // The second turn uses a new stream, where the shared one broke off before the window.
        for _ in 0..<2 {
            let current = stream ?? window.source.stream(for: window.range)
            stream = current
            guard let current else { break }
            switch current.pipe.take(into: part, at: window.range.lowerBound + inside, wake: wake) {
            case .bytes(let count):
                window.sums?.add(UnsafeRawBufferPointer(rebasing: part[..<count]), at: inside)
                given += Int64(count)
                if window.range.lowerBound + inside + Int64(count) == window.source.size,
                    let error = window.source.refutation
                {
                    return .failure(error)
                }
                return .success(count)
            case .later: return .success(nil)
            case .failed(let error): return .failure(error)
            case .gone where inside == 0: stream = nil
            case .gone: return .failure(Self.brokenOff)
            }
        }
        return .failure(Self.brokenOff)
    }

    private static let brokenOff = TransferError(
        .connectionLost, "the reading of the source was broken off", isTransient: true)

    private func copy(
        _ bytes: ArraySlice<UInt8>, to buffer: UnsafeMutableRawBufferPointer
    ) -> Result<Int?, TransferError> {
        let count = min(bytes.count, buffer.count)
        buffer.copyBytes(from: bytes.prefix(count))
        given += Int64(count)
        return .success(count)
    }

    func rewind() {
        guard given > 0 || stream != nil else { return }
        leave()
        given = 0
    }

    func close() { leave() }

    /// Leaves the stream. A stream whose requested bytes were not all taken is useless to later windows.
    private func leave() {
        guard let stream else { return }
        self.stream = nil
        guard stream.pipe.given < window.range.upperBound else { return }
        window.source.ended(stream)
        stream.close()
    }
}
