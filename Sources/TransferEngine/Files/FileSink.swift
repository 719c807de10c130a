import CTransferLinux
import Glibc
public import TransferCore
import TransferCrypto
public import TransferEventLoop

/// A function that stores the records of a partial file whose file system cannot hold them (``PartFile/holdsRecords``).
///
/// Any thread calls it, and the later record counts. The function calls the closure once the record will survive a
/// kill, or never if the exchange has ended by then. Afterwards it resumes the exchange (``ExchangeHandle/proceed()``).
public typealias ResumeRecorder = @Sendable (ResumeData, _ kept: @escaping @Sendable () -> Void) -> Void

/// A receiver of the body of one exchange, used on one loop.
public protocol BodySink: AnyObject {
    /// The bytes of the file that are in place.
    var position: Int64 { get }
    /// Begins a body that belongs at `start.offset`. The existing bytes from that offset on are discarded.
    func begin(_ start: BodyStart) throws(TransferError)
    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError)
    /// Whether the sink takes more.
    ///
    /// If not, nothing is read from the network until `ExchangeHandle.proceed()`. The code that makes the sink ready
    /// again must call it.
    var isReady: Bool { get }
    /// The error of a body that has ended and does not match its announcement.
    var shortfall: TransferError? { get }
}

extension BodySink {
    /// The default: the sink is always ready.
    public var isReady: Bool { true }
    /// The default: the sink never finds a shortfall.
    public var shortfall: TransferError? { nil }
}

/// A sink that writes a body to a partial file, straight from libcurl's buffer, and hashes it at the same time.
///
/// Bytes that exist already are compared and not written.
public final class FileSink: BodySink {
    /// The bytes of the file that are in place.
    public private(set) var position: Int64
    private let part: PartFile
    private let workers: WorkerPool
    private let url: String
    private var checkpointDistance = CheckpointDistance.longest
    private var lastCheckpoint: Int64
    private var digest: Digest?
    private var start: BodyStart?
    private let state: FileSinkState
    /// The record of the bytes that existed before.
    private let earlier: ResumeData?
    /// The bytes of the body that are still to be compared with existing ones.
    private var uncompared: Range<Int64> = 0..<0
    private let recorder: ResumeRecorder?
    /// The ranges of a file that other exchanges may fill too.
    private let segments: SegmentedFile?
    /// Whether a record is still to be made, because the length was unknown at the beginning.
    private var isRecordDue = false
    /// The claim of the server's bytes, where they differed from the existing ones.
    private(set) var doubtfulClaim: String?

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - offset: The existing bytes of the file that stay, unless the server begins anew.
    ///   - url: The redacted URL for the record.
    ///   - algorithm: The digest to make, if the body comes from the first byte on.
    ///   - earlier: The record of the existing bytes; `nil` uses the record in the file itself.
    ///   - recorder: The store of records that the file cannot hold.
    ///   - algorithmOfAnswer: A closure that chooses the digest by the answer where `algorithm` is `nil`.
    ///   - segments: The file's map, where other exchanges may fill it too.
    public init(
        _ part: PartFile, offset: Int64, url: String, algorithm: DigestAlgorithm?, workers: WorkerPool,
        state: FileSinkState, earlier: ResumeData? = nil, recorder: ResumeRecorder? = nil,
        algorithmOfAnswer: (@Sendable (ResponseHead) -> DigestAlgorithm?)? = nil, segments: SegmentedFile? = nil
    ) {
        self.algorithmOfAnswer = algorithmOfAnswer
        self.recorder = recorder
        self.segments = segments
        self.earlier = earlier ?? part.initialRecord
        self.part = part
        self.workers = workers
        self.url = url
        self.state = state
        position = offset
        lastCheckpoint = offset
        self.algorithm = algorithm
    }

    private let algorithm: DigestAlgorithm?
    /// The choice of a digest by the answer, where none was named.
    private let algorithmOfAnswer: (@Sendable (ResponseHead) -> DigestAlgorithm?)?
    /// The length in bytes below which a file gets no record: it is fetched again.
    private static let recordThreshold: Int64 = 256 << 10
    /// The bytes that a kill may lose before a record is made.
    private static let mostUnrecorded: Int64 = 2 << 20

    /// Whether the sink takes more: it waits while a record is being stored elsewhere.
    public var isReady: Bool { state.isReady }

    /// Begins a body in the partial file.
    ///
    /// - Throws: The error of the disk, or of an answer that does not fit the existing bytes.
    public func begin(_ start: BodyStart) throws(TransferError) {
        let isPart = if let segments, segments.isSplit { try beginPart(start, segments) } else { false }
        self.start = start
        if start.continued == 0, !isPart {
            if position > 0 || part.initialSize > 0 {
                if start.setsAside { try part.setAside() } else { try part.truncate() }
                state.restart()
            }
        } else if start.continued != position {
            // The bytes beyond the continuation were not trusted.
            try part.truncate(to: start.continued)
            digest = nil
        }
        if start.offset == 0 {
            digest = try (algorithm ?? algorithmOfAnswer?(start.head)).map { algorithm throws(TransferError) in
                do { return try Digest(algorithm) } catch { throw error as? TransferError ?? .internalFault(error) }
            }
        } else if start.overlap > 0 {
            digest = nil
        }
        uncompared = start.offset..<start.continued
        position = start.continued
        lastCheckpoint = position
        // The mount of a file that is too short for a checkpoint is not examined.
        if (start.total ?? .max) - position > CheckpointDistance.shortest {
            checkpointDistance = CheckpointDistance.after(position, outlivesKills: part.mount != nil)
        }
        // Small files are fetched again rather than continued: only larger ones need a name before they are finished.
        if start.total ?? .max >= Self.recordThreshold { try part.ensureNamed() }
        Failpoint.reached(.partBegun)
        let isKept = keepBeginning()
        // The version of the bytes is not known before they were compared.
        let isOld = start.overlap > 0
        isRecordDue = start.total == nil && start.isContinuable && !isOld && !isKept
        if let total = start.total, total >= Self.recordThreshold, segments?.isSplit != true {
            try part.checkSpace(total)
            let generation = part.currentGeneration
            let (part, state, record) = (part, state, record())
            state.isRecorded = isOld || isKept
            // The record comes first: blocks may take long to reserve, and the loop does not wait for them.
            workers.execute { [recorder] in
                if !isOld, !isKept { part.record(record, generation: generation, recorder: recorder) }
                state.isRecorded = true
                Failpoint.reached(.partRecorded)
                do throws(TransferError) { try part.reserve(total, generation: generation) } catch { state.fail(error) }
                Failpoint.reached(.partReserved)
            }
        }
    }

    /// Continues a file with holes.
    ///
    /// - Returns: Whether the answer is the requested part, which may be the file's beginning.
    private func beginPart(_ start: BodyStart, _ segments: SegmentedFile) throws(TransferError) -> Bool {
        // The map only counts for bytes that stay.
        guard self.start == nil else {
            guard start.continued == position else {
                throw TransferError(
                    .badResponse, "the answer does not continue where the last one ended", isTransient: true)
            }
            return true
        }
        if start.head.status == 206, start.continued == position { return true }
        if start.continued == 0 || start.continued != position {
            if let record = segments.record() { part.record(record) }
            segments.reset()
        } else if start.head.status != 206 {
            segments.runOn()
        }
        return false
    }

    /// Stores the record elsewhere before the first byte, where the file cannot hold it.
    ///
    /// Without that record the file would belong to no download after a kill, or an earlier record would be taken for
    /// that of the new bytes.
    ///
    /// - Returns: Whether the record is stored elsewhere.
    private func keepBeginning() -> Bool {
        guard let recorder, start?.continued == 0, part.isNamed, !part.holdsRecords else { return false }
        state.hold()
        recorder(record()) { [state] in state.release() }
        return true
    }

    /// Records a body of unknown length that has become long enough for a record.
    private func recordSize() {
        isRecordDue = false
        let generation = part.currentGeneration
        let (part, state, record) = (part, state, record())
        state.isRecorded = false
        workers.execute { [recorder] in
            part.record(record, generation: generation, recorder: recorder)
            state.isRecorded = true
            Failpoint.reached(.partRecorded)
        }
    }

    /// Writes, hashes or compares the next bytes of the body.
    ///
    /// - Throws: The error of the disk, or a difference from the existing bytes.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        if let failure = state.failure { throw failure }
        digest?.update(bytes)
        part.sums.add(bytes, at: uncompared.isEmpty ? position : uncompared.lowerBound)
        var rest = uncompared.isEmpty ? bytes : try compare(bytes)
        if let segments, segments.isSplit {
            digest = nil
            guard let claim = segments.lead else { throw .partDone }
            return try segments.write(rest, at: &position, claim: claim, isLead: true)
        }
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
        if isRecordDue, position >= Self.recordThreshold { recordSize() }
        if position - (start?.continued ?? 0) >= Self.mostUnrecorded, !state.isRecorded { recordHere() }
        if position - lastCheckpoint >= checkpointDistance, start?.isContinuable == true { checkpoint() }
    }

    /// Writes the record on the loop, as the workers are behind the network. Writing an attribute costs the loop less
    /// than a kill would cost.
    private func recordHere() {
        let generation = part.currentGeneration
        part.record(record(), generation: generation, recorder: recorder)
        state.isRecorded = true
    }

    /// Compares bytes with the existing ones.
    ///
    /// - Returns: The bytes behind the existing ones.
    /// - Throws: An error when the bytes differ.
    private func compare(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> UnsafeRawBufferPointer {
        let count = min(bytes.count, Int(uncompared.count))
        var isSame = true
        var done = 0
        withUnsafeTemporaryAllocation(byteCount: min(count, 64 << 10), alignment: 16) { buffer in
            while done < count, isSame {
                let wanted = min(buffer.count, count - done)
                let read = pread(
                    part.descriptor, buffer.baseAddress, wanted, off_t(uncompared.lowerBound) + off_t(done))
                if read < 0, errno == EINTR { continue }
                guard read > 0, let mine = buffer.baseAddress, let others = bytes.baseAddress else {
                    isSame = false
                    break
                }
                isSame = memcmp(mine, others + done, read) == 0
                done += read
            }
        }
        guard isSame else {
            doubtfulClaim = ResumeClaim.otherBytes
            throw .otherBytes
        }
        uncompared = (uncompared.lowerBound + Int64(count))..<uncompared.upperBound
        return UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    /// The error of a body that ended before all existing bytes were compared.
    public var shortfall: TransferError? {
        guard !uncompared.isEmpty else { return nil }
        return TransferError(
            .connectionLost, "the answer ended before the end of the bytes that are there already", isTransient: true)
    }

    /// Whether the file has only the bytes that it had before, because no answer came or it brought no new bytes.
    public var isUntouched: Bool { start.map { !uncompared.isEmpty && $0.overlap > 0 } ?? true }

    /// Returns the state that can be continued from here.
    ///
    /// The value is `nil` when there are no bytes, and when no answer came: then the earlier record still holds.
    public func resumeData() -> ResumeData? {
        guard let start, position > 0, start.isContinuable, !isUntouched else { return nil }
        return record()
    }

    /// Returns the digest of the whole file, if this sink wrote it from its first byte on.
    public func finishDigest() -> Checksum? {
        defer { digest = nil }
        return try? digest?.finish()
    }

    /// Makes a record. The caller must read the generation before: a map that is made meanwhile belongs to a later one.
    private func record() -> ResumeData {
        if let segments, segments.isSplit, let record = segments.record() { return record }
        var record = ResumeData(
            url: url, validator: validator, total: start?.total,
            written: ByteRanges(0..<position), synced: state.synced, bootID: BootID.current, mount: part.mount,
            partialFile: part.path, partialInode: part.inode)
        record.isSequential = start?.isContinuable ?? true
        if let start {
            record.place = start.place
            record.contentCoding = start.head.contentCoding?.lowercased()
            record.mediaType = start.head.mediaType ?? (isPart ? earlier?.mediaType : nil)
            if start.continued > 0 { record.adopted = earlier?.adopted }
        }
        return record
    }

    /// Whether the answer is a part of the version to which the bytes before it belong.
    private var isPart: Bool { start.map { $0.head.status == 206 && $0.continued > 0 } ?? false && earlier?.url == url }

    /// The validator of the file. A 206 need not repeat Last-Modified (RFC 9110 §15.3.7): then that of the earlier
    /// record holds.
    private var validator: Validator? {
        guard let start else { return nil }
        return Validator(start.head) ?? (isPart ? earlier?.validator : nil)
    }

    /// Makes the written bytes durable, concurrently with the transfer.
    private func checkpoint() {
        lastCheckpoint = position
        checkpointDistance = CheckpointDistance.after(position, outlivesKills: part.mount != nil)
        let generation = part.currentGeneration
        var record = record()
        record.synced = ByteRanges(0..<position)
        let (part, state, position) = (part, state, position)
        workers.execute { [record, recorder] in
            do throws(TransferError) {
                try part.sync()
                Failpoint.reached(.checkpointSynced)
                if part.isCurrent(generation, and: { state.didSync(position) }) {
                    part.record(record, generation: generation, recorder: recorder)
                }
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
