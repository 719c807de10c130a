import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferJobs
import TransferStore

/// The result of checking the file of a completed download.
public struct FileCheck: Sendable {
    /// The evidence that judged the file, the strongest first.
    public enum Proof: String, Sendable, Hashable {
        /// The digest of the job, or the one that its server gave with the file.
        case digest
        /// The digests of its pieces.
        case pieces
        /// The sums that were made at the download. They reveal later damage on the disk, but prove nothing about the
        /// downloaded bytes.
        case sums
        /// The present answer of its server.
        case server
    }

    /// The judgement on a file.
    public enum Verdict: Sendable, Hashable {
        case good(Proof)
        /// The file is damaged. The ranges of wrong bytes are in order, or cover the whole file if they are unknown.
        case bad(Proof, [Range<Int64>])
        case missing
        /// The file could not be judged, for this reason in words.
        case unknown(String)
    }

    /// The name of the job's batch.
    public let batch: String
    /// The job's name in its batch.
    public let job: String
    /// The absolute path of the file.
    public let path: String
    /// The size of the whole file, in bytes.
    public let size: Int64
    /// The judgement on the file.
    public internal(set) var verdict: Verdict
    package let download: StoredDownload

    /// Whether no record could judge the file, so that only its server might.
    public var isUnknown: Bool { if case .unknown = verdict { true } else { false } }

    /// The number of bytes that are wrong or missing.
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
        guard case .download(let work) = download.spec.work else { return .unknown("it is no download") }
        var status = stat()
        guard stat(download.path, &status) == 0 else { throw .file("read", download.path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .unknown("it is not a plain file") }
        let expected = work.checksum ?? download.digest
        let reading = try FileReading(download.path, algorithm: expected?.algorithm, pieces: work.pieces)
        return verdict(reading, of: download.facts.size, expected, work.pieces, download.sums)
    }

    /// Judges a file.
    ///
    /// - Parameter size: The recorded size of the whole file.
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
        // Missing or additional bytes count as wrong.
        if reading.size != size { bad.insert(min(reading.size, size)..<max(reading.size, size)) }
        if !bad.ranges.isEmpty { return .bad(proof, bad.ranges) }
        // All pieces are unchanged, but the digest belongs to another file.
        return proof == .digest ? .bad(.digest, size > 0 ? [0..<size] : []) : .good(proof)
    }

    /// Returns the numbers of the pieces that have changed.
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
    /// Each file is read once. It is judged by the job's digest, else by the digests of its pieces, else by the sums
    /// made at its download. Without these, the verdict is ``FileCheck/Verdict/unknown(_:)``; the server may know more
    /// (``JobQueue/askServer(_:)``).
    ///
    /// - Parameters:
    ///   - name: The name of the batch.
    ///   - take: A function that takes each check.
    /// - Throws: `TransferError` if the database cannot be read, and errors of `take`. A damaged or unreadable file is
    ///   not an error.
    public func checkFiles(ofBatch name: String, _ take: (FileCheck) async throws -> Void) async throws {
        try await check(.batch(name), take)
    }

    /// Checks one file by the record of the last download that wrote it. Blocks.
    ///
    /// - Parameter path: The absolute path, as recorded.
    /// - Returns: `nil` if there is no record of the file.
    /// - Throws: `TransferError` if the database cannot be read. A damaged or unreadable file is not an error.
    public func checkFile(_ path: String) async throws -> FileCheck? {
        try reported { try store.downloads(.file(path), after: 0, limit: .max) }.last.map { FileCheck($0) }
    }

    /// Visits the downloads of a batch that have never brought a file. Blocks.
    ///
    /// - Parameters:
    ///   - name: The name of the batch.
    ///   - checked: The names of the jobs with a file, which have been checked.
    ///   - take: A function that takes each of the other jobs.
    /// - Throws: `TransferError` if the database cannot be read.
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
