import TransferCore

/// A receiver of the body of one exchange of a ``RemoteStream``, used on one loop.
final class RemoteSink: BodySink {
    private let source: RemoteSource
    private let stream: RemoteStream
    private let number: Int
    private let start: Int64
    /// The offset of the first byte that has not come before.
    private let wanted: Int64
    private(set) var position: Int64
    /// The first bytes of a part that may be the file's beginning: they wait until that is decided. `nil` needs no
    /// decision.
    private var doubted: [UInt8]?

    init(_ source: RemoteSource, _ stream: RemoteStream, number: Int, from start: Int64, wanted: Int64) {
        self.source = source
        self.stream = stream
        self.number = number
        self.start = start
        self.wanted = wanted
        position = start
    }

    func begin(_ start: BodyStart) throws(TransferError) {
        try start.requireBeginning(at: self.start)
        guard let version = RemoteVersion(start) ?? source.version else {
            throw TransferError(
                .badResponse,
                "the server does not report the length of its file, which a copy needs; download it, and "
                    + "upload the file")
        }
        try source.accept(version, start.head)
        if self.start > 0, FileServerURL.mayIgnoreOffsets(start.url) { doubted = [] }
        stream.answered(number, start, version, isProven: source.isProven)
        stream.answered(number, .success(version))
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        guard var first = doubted else { return try take(bytes) }
        let count = min(bytes.count, RemoteSource.beginningLength - first.count)
        first += bytes[..<count]
        doubted = first
        let end = source.version.map { $0.size - start } ?? .max
        guard first.count == RemoteSource.beginningLength || Int64(first.count) >= end else { return }
        guard !source.isBeginning(first) else { throw .offsetIgnored }
        doubted = nil
        do {
            try first.withUnsafeBytes { try take($0) }
        } catch {
            throw error as? TransferError ?? .internalFault(error)
        }
        if count < bytes.count { try take(UnsafeRawBufferPointer(rebasing: bytes[count...])) }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        let known = Int(max(0, min(Int64(bytes.count), wanted - position)))
        position += Int64(bytes.count)
        guard known < bytes.count else { return }
        guard stream.came(UnsafeRawBufferPointer(rebasing: bytes[known...]), of: number, source) else {
            throw TransferError(.cancelled, "no reader is left")
        }
    }

    var isReady: Bool { stream.pipe.isReady }
}

extension TransferError {
    /// The error of a file server that agreed to begin in the middle of a file, and sends its beginning.
    static let offsetIgnored = TransferError(
        .badResponse, "the server sends the file's beginning in the place of its middle", isTransient: true)
}
