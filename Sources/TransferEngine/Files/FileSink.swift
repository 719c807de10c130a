import CTransferFailpoint
import Glibc
public import TransferCore
import TransferCrypto
public import TransferEventLoop

/// Takes the body of one exchange; used on one loop.
public protocol BodySink: AnyObject {
    /// Bytes of the file that are in place.
    var position: Int64 { get }
    /// The body that comes belongs at `start.offset`; what was there from that offset on is given up.
    func begin(_ start: BodyStart) throws(TransferError)
    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError)
    /// Whether it takes more. When it doesn't, nothing is read from the network until `ExchangeHandle.proceed()`,
    /// which whoever makes it ready again has to call.
    var isReady: Bool { get }
}

extension BodySink {
    public var isReady: Bool { true }
}

/// Writes a body to a partial file, straight from libcurl's buffer, and hashes it on the way.
public final class FileSink: BodySink {
    public private(set) var position: Int64
    private let part: PartFile
    private let workers: WorkerPool
    private let url: String
    private let checkpointDistance: Int64
    private var lastCheckpoint: Int64
    private var digest: Digest?
    private var start: BodyStart?
    private let state: FileSinkState

    /// - Parameters:
    ///   - offset: Bytes of the file that are there and stay, unless the server makes it start again.
    ///   - url: Redacted, for the record.
    ///   - algorithm: Hash what is written, if it's written from the first byte on.
    public init(
        _ part: PartFile, offset: Int64, url: String, algorithm: DigestAlgorithm?, workers: WorkerPool,
        state: FileSinkState
    ) {
        self.part = part
        self.workers = workers
        self.url = url
        self.state = state
        position = offset
        lastCheckpoint = offset
        checkpointDistance = 64 << 20
        self.algorithm = algorithm
    }

    private let algorithm: DigestAlgorithm?
    /// Below this a file is not worth a record of its own: it's fetched again.
    private static let recordThreshold: Int64 = 256 << 10

    public func begin(_ start: BodyStart) throws(TransferError) {
        self.start = start
        if start.offset == 0 {
            if position > 0 || part.initialSize > 0 { try part.truncate() }
            digest = try algorithm.map { algorithm throws(TransferError) in
                do { return try Digest(algorithm) } catch { throw error as? TransferError ?? .internalFault(error) }
            }
        } else if start.offset != position {
            // Bytes beyond the continuation were not trusted.
            try part.truncate(to: start.offset)
            digest = nil
        }
        position = start.offset
        lastCheckpoint = position
        // Small files are fetched again rather than continued: only larger ones need a name on the way.
        if start.total ?? .max >= Self.recordThreshold { try part.ensureNamed() }
        Failpoint.reached(.partBegun)
        if let total = start.total, total >= Self.recordThreshold {
            try part.checkSpace(total)
            let (part, state, record, generation) = (part, state, record(), part.currentGeneration)
            workers.execute {
                do throws(TransferError) { try part.reserve(total) } catch { state.fail(error) }
                Failpoint.reached(.partReserved)
                part.record(record, generation: generation)
                Failpoint.reached(.partRecorded)
            }
        }
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        if let failure = state.failure { throw failure }
        var rest = bytes
        while !rest.isEmpty {
            let count = pwrite(part.descriptor, rest.baseAddress, rest.count, off_t(position))
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .file("write", part.path, errno)
            }
            position += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            Failpoint.reached(.bytesWritten)
        }
        digest?.update(bytes)
        if position - lastCheckpoint >= checkpointDistance, start?.head.contentCoding == nil { checkpoint() }
    }

    /// What can be continued from here; `nil` when nothing is there, and when no answer came: then what was recorded
    /// before still holds.
    public func resumeData() -> ResumeData? {
        guard let start, position > 0, start.head.contentCoding == nil else { return nil }
        return record()
    }

    /// The digest of the whole file, when it was written from its first byte on by this sink.
    public func finishDigest() -> Checksum? {
        defer { digest = nil }
        return try? digest?.finish()
    }

    private func record() -> ResumeData {
        ResumeData(
            url: url, validator: validator, total: start?.total,
            written: ByteRanges(0..<position), synced: state.synced, bootID: BootID.current,
            partialFile: part.path, partialInode: part.inode)
    }

    /// A 206 needn't repeat Last-Modified (RFC 9110 §15.3.7): then what the bytes before it were recorded with holds.
    private var validator: Validator? {
        guard let start else { return nil }
        if let validator = Validator(start.head) { return validator }
        guard start.offset > 0, let record = part.initialRecord, record.url == url else { return nil }
        return record.validator
    }

    /// Makes durable, beside the transfer, what has been written.
    private func checkpoint() {
        lastCheckpoint = position
        var record = record()
        record.synced = ByteRanges(0..<position)
        let (part, state, position, generation) = (part, state, position, part.currentGeneration)
        workers.execute { [record] in
            do throws(TransferError) {
                try part.sync()
                Failpoint.reached(.checkpointSynced)
                if state.didSync(position) { part.record(record, generation: generation) }
                Failpoint.reached(.checkpointRecorded)
            } catch {
                state.fail(error)
            }
        }
    }
}

extension TransferError {
    static func internalFault(_ error: any Error) -> TransferError { TransferError(.internalFault, "\(error)") }
}
