import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferJobs
import TransferStore

/// What a look at the file of a completed download showed.
public struct FileCheck: Sendable {
    /// What judged the file, the strongest first.
    public enum Proof: String, Sendable, Hashable {
        /// The job's digest, or the one that its server gave with it.
        case digest
        /// The digests of its pieces.
        case pieces
        /// The sums that were made when it came. They find what went bad on the disk since, and prove nothing of what came.
        case sums
        /// What its server says now.
        case server
    }

    public enum Verdict: Sendable, Hashable {
        case good(Proof)
        /// With the bytes that aren't right, in order; all of them where nothing tells which.
        case bad(Proof, [Range<Int64>])
        case missing
        /// Why nothing could be said, in words.
        case unknown(String)
    }

    public let batch: String
    /// The job's name in its batch.
    public let job: String
    public let path: String
    /// The size of the whole file.
    public let size: Int64
    public internal(set) var verdict: Verdict
    package let download: StoredDownload

    /// Whether the file's server could still judge it.
    public var isUnknown: Bool { if case .unknown = verdict { true } else { false } }

    /// Bytes that aren't right.
    public var badBytes: Int64 {
        switch verdict {
        case .bad(_, let ranges): ranges.reduce(0) { $0 + Int64($1.count) }
        case .missing: size
        case .good, .unknown: 0
        }
    }

    /// Reads the file once. Blocks.
    init(_ download: StoredDownload) {
        self.download = download
        (batch, job, path, size) = (download.batch, download.identity, download.path, download.facts.size)
        do throws(TransferError) {
            verdict = try Self.judge(download)
        } catch {
            let isGone = error.errno == ENOENT || error.errno == ENOTDIR
            verdict = isGone ? .missing : .unknown(error.message)
        }
    }

    private static func judge(_ download: StoredDownload) throws(TransferError) -> Verdict {
        guard case .download(let work) = download.spec.work else { return .unknown("it's no download") }
        var status = stat()
        guard stat(download.path, &status) == 0 else { throw .file("read", download.path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .unknown("it isn't a plain file") }
        let expected = work.checksum ?? download.digest
        let reading = try FileReading(download.path, algorithm: expected?.algorithm, pieces: work.pieces)
        return verdict(reading, of: download.facts.size, expected, work.pieces, download.sums)
    }

    /// - Parameter size: Of the whole file, as it was recorded.
    static func verdict(
        _ reading: FileReading, of size: Int64, _ expected: Checksum?, _ pieces: PieceDigests?, _ sums: PieceSumList?
    ) -> Verdict {
        if let expected, reading.digest == expected { return .good(.digest) }
        let proof: Proof? = expected != nil ? .digest : pieces != nil ? .pieces : sums != nil ? .sums : nil
        guard let proof else {
            return reading.size == size
                ? .unknown("nothing is recorded by which it could be judged")
                : .bad(.sums, [min(reading.size, size)..<max(reading.size, size)])
        }
        var bad = ByteRanges()
        if let pieces {
            for number in reading.wrongPieces {
                if let range = pieces.range(ofPiece: number, in: size) { bad.insert(range) }
            }
        } else if let sums, sums.size == size {
            for number in damaged(reading, sums) { bad.insert(sums.range(ofPiece: number)) }
        }
        // What is missing or too much.
        if reading.size != size { bad.insert(min(reading.size, size)..<max(reading.size, size)) }
        if !bad.ranges.isEmpty { return .bad(proof, bad.ranges) }
        // The pieces are as they came, and the digest says that it's another file.
        return proof == .digest ? .bad(.digest, size > 0 ? [0..<size] : []) : .good(proof)
    }

    /// The numbers of the pieces that aren't as they were.
    private static func damaged(_ reading: FileReading, _ sums: PieceSumList) -> [Int] {
        guard let found = reading.sums, found.length == sums.length else { return Array(sums.sums.indices) }
        return sums.sums.indices.filter { number in
            number >= found.sums.count || found.sums[number] != sums.sums[number]
                || found.range(ofPiece: number) != sums.range(ofPiece: number)
        }
    }
}

extension QueueRemote {
    /// Checks the files of completed downloads, one after the other. Blocks.
    ///
    /// Each is read once, and judged by the job's digest, else the digests of its pieces, else the sums that were made when it
    /// came. Where there is none of these the verdict is ``FileCheck/Verdict/unknown(_:)``: its server may know
    /// (``JobQueue/askServer(_:)``).
    ///
    /// - Throws: `TransferError` when the database can't be read; what `take` throws.
    public func checkFiles(ofBatch name: String, _ take: (FileCheck) async throws -> Void) async throws {
        try await check(.batch(name), take)
    }

    /// Checks one file, as the last download that wrote it says.
    ///
    /// - Parameter path: As it's recorded: absolute.
    /// - Returns: `nil` where no record speaks of it.
    public func checkFile(_ path: String) async throws -> FileCheck? {
        try reported { try store.downloads(.file(path), after: 0, limit: .max) }.last.map { FileCheck($0) }
    }

    /// Goes through the downloads of a batch that have never brought a file. Blocks.
    ///
    /// - Parameter checked: The names of those that have one, of which there are checks.
    /// - Throws: `TransferError` when the database can't be read.
    public func missingDownloads(
        ofBatch name: String, besides checked: Set<String>, _ take: (ListedJob) -> Void
    ) throws {
        try jobs(batch: name) { page in
            for job in page where job.state != .done && job.state != .cancelled && !checked.contains(job.job) {
                if let spec = job.route?.job, !spec.isUpload { take(job) }
            }
            return true
        }
    }

    private func check(
        _ selection: DownloadSelection, _ take: (FileCheck) async throws -> Void
    ) async throws {
        var last: Int64 = 0
        while true {
            let page = try reported { try store.downloads(selection, after: last, limit: 64) }
            guard let end = page.last?.id else { return }
            for download in page { try await take(FileCheck(download)) }
            last = end
        }
    }
}
