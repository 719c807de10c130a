import CTransferFailpoint
import CTransferLinux
import Glibc
import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs

/// From the last byte received to a file under its own name: verified, durable, renamed. Blocks: for workers.
///
/// Many small files are made durable together, with one call for their file system; each step is a function of its
/// own, so that a test can cut between any two.
struct DownloadCompletion: Sendable {
    struct Item: Sendable {
        let id: Int64
        let batch: Int64
        let part: PartFile
        let path: String
        let replacement: OverwriteRule
        let picksFreeName: Bool
        /// Seconds since 1970; `nil` leaves the time of writing.
        let modified: Int64?
        let expected: Checksum?
        var pieces: PieceDigests?
        /// The bytes that were written to the partial file.
        let length: Int64
        /// The bytes that the file must have.
        var size: Int64?
        /// What the server said of the whole file; it judges where the job says nothing.
        var reported: ServerDigest?
        /// Computed while it was written, if it could be.
        let computed: Checksum?
        let isLarge: Bool
        /// Another tool's file with which it began: one that has the destination's name is replaced if that is true.
        var adopted: String?
        /// Where it came from, to be noted in the file itself.
        var mark: ResumeData?
        /// Whether it came from several sources: what is wrong of it is fetched again, and the rest stays.
        var isMixed = false
        var ahead: ReadingAhead?
        /// How the job's own file looked when it brought it before.
        var own: FileStamp?
        /// Bytes that its parts brought once more.
        var seams: SeamList?
        /// What the file had that is repaired: what came is compared with it.
        var recorded: RecordedBytes?
        /// The processes that may have partial files of it, where several share folders.
        var owners: PartOwners?
    }

    struct Saved: Sendable {
        let path: String
        let facts: FileStamp
        let digest: Checksum?
        let sums: PieceSumList?
    }

    /// What is known of a file's bytes.
    struct Verified: Sendable {
        let digest: Checksum?
        let sums: PieceSumList?
    }

    typealias Answer = (id: Int64, result: Result<Saved, TransferError>)

    static func run(_ items: [Item], _ census: FolderCache) -> [Answer] {
        var answers: [Answer] = []
        var durable: [(item: Item, verified: Verified)] = []
        for item in items {
            do throws(TransferError) {
                durable.append((item, try verify(item)))
                Failpoint.reached(.downloadVerified)
            } catch {
                answers.append((item.id, .failure(error)))
            }
        }
        do throws(TransferError) {
            try makeDurable(durable.map(\.item))
            Failpoint.reached(.downloadDurable)
        } catch {
            return answers + durable.map { ($0.item.id, .failure(error)) }
        }
        var folders = Set<String>()
        var saved: [(id: Int64, Saved)] = []
        for (item, verified) in durable {
            do throws(TransferError) {
                item.part.removeMap()
                let (path, earlier) = try giveName(item, census.brought)
                if item.mark != nil, earlier == nil { item.part.noteNaming() }
                Failpoint.reached(.downloadNamed)
                item.part.removeAside()
                PartSuccession(owners: item.owners).sweep(of: item.path, in: item.part.folder)
                folders.insert(FolderMaker.parent(of: path))
                let facts = if let earlier { earlier } else { try item.part.facts() }
                saved.append((item.id, Saved(path: path, facts: facts, digest: verified.digest, sums: verified.sums)))
            } catch {
                answers.append((item.id, .failure(error)))
            }
        }
        // A folder that can't be opened, as there is no descriptor or it may not be listed, has the file's own file system.
        var areSynced = true
        census.sync(folders) { areSynced = FolderMaker.sync($0) && areSynced }
        if !areSynced { for (item, _) in durable { try? item.part.syncFileSystem() } }
        Failpoint.reached(.downloadFolderSynced)
        return answers + saved.map { ($0.id, .success($0.1)) }
    }

    /// - Throws: `checksumMismatch`; the partial file is removed then, as nothing in it can be trusted, but for one of several sources.
    static func verify(_ item: Item) throws(TransferError) -> Verified {
        try WrittenBytes.check(item.part, length: item.length)
        if let size = item.size {
            let found = try item.part.facts().size
            guard found == size else {
                item.part.remove()
                throw TransferError(
                    .checksumMismatch,
                    "the size differs: expected "
                        + "\(CountText.bytes(size)), got \(found)")
            }
        }
        // Before its digest: this fault is the server's way with parts, and one connection gets the file.
        if let offset = item.seams?.firstWrong(in: item.part.descriptor) {
            item.part.remove()
            throw .wrongPart(at: offset)
        }
        if let recorded = item.recorded, let wrong = try recorded.refutation(of: item.part.readablePath) {
            item.part.remove()
            throw wrong
        }
        if let pieces = item.pieces, let wrong = try PieceCheck(item.part.readablePath, pieces).wrong {
            if !item.isMixed { item.part.remove() }
            throw TransferError(.checksumMismatch, wrong)
        }
        let reported = item.pieces == nil ? item.reported : nil
        guard let expected = item.expected ?? reported?.digest else {
            return Verified(digest: item.computed, sums: try sums(item))
        }
        let (actual, sums): (Checksum, PieceSumList?)
        if let computed = item.computed, computed.algorithm == expected.algorithm {
            (actual, sums) = (computed, try self.sums(item))
        } else if let read = try readAhead(item), let digest = read.digest, digest.algorithm == expected.algorithm {
            (actual, sums) = (digest, read.sums)
        } else {
            let reading = try FileReading(item.part.readablePath, algorithm: expected.algorithm)
            guard let digest = reading.digest else { throw TransferError(.internalFault, "a file without a digest") }
            (actual, sums) = (digest, reading.sums)
        }
        guard actual == expected else {
            if !item.isMixed { item.part.remove() }
            throw TransferError(
                .checksumMismatch,
                "\(expected.algorithm.rawValue) differs: expected \(expected.hex.prefix(12))…, got \(actual.hex.prefix(12))…"
                    + (item.expected == nil ? reported.map { " (as \($0.host) says in \($0.field))" } ?? "" : ""))
        }
        return Verified(digest: actual, sums: sums)
    }

    private static func readAhead(
        _ item: Item
    ) throws(TransferError) -> (digest: Checksum?, sums: PieceSumList?)? {
        guard let ahead = item.ahead else { return nil }
        return ahead.finish(size: try item.part.facts().size)
    }

    /// Those that were made while it was written, else by reading it.
    private static func sums(_ item: Item) throws(TransferError) -> PieceSumList? {
        if let sums = item.part.sums.list(of: try item.part.facts().size) { return sums }
        if let sums = try readAhead(item)?.sums { return sums }
        return try FileReading.sums(item.part.readablePath)
    }

    /// Times first: they are to be durable too.
    static func makeDurable(_ items: [Item]) throws(TransferError) {
        for item in items {
            item.part.settle()
            if let modified = item.modified { item.part.setModificationTime(modified) }
            if item.isLarge { item.part.trimReservation() }
            if let mark = item.mark {
                item.part.record(mark)
                item.part.noteModificationTime()
            }
        }
        Failpoint.reached(.downloadMarked)
        if items.count <= 2 || items.contains(where: \.isLarge) {
            for item in items { try item.part.sync() }
            return
        }
        // One look per folder: folders are few, and all of a folder's plain files are of one file system.
        var folders = Set<String>()
        var devices = Set<dev_t>()
        for item in items where folders.insert(FolderMaker.parent(of: item.part.path)).inserted {
            var status = stat()
            guard fstat(item.part.descriptor, &status) == 0 else { throw .file("read", item.part.path, errno) }
            if devices.insert(status.st_dev).inserted { try item.part.syncFileSystem() }
        }
    }

    /// - Returns: The name that it has, and how the file looks that had it already, with the same bytes.
    static func giveName(
        _ item: Item, _ brought: BroughtFiles
    ) throws(TransferError) -> (path: String, earlier: FileStamp?) {
        // Before it has the name, so that no other job that looks at it then takes it for a foreign one.
        brought.note(try item.part.facts(), batch: item.batch)
        guard item.replacement != .nothing else { return try giveName(item) }
        return try brought.withNaming { () throws(TransferError) in
            let there = try DestinationName.look(item.path, in: item.part.folder)
            guard case .file(let other) = there, brought.contains(other, batch: item.batch),
                !other.isSameVersion(as: item.own)
            else { return try giveName(item) }
            if isSame(item) {
                item.part.remove()
                return (item.path, other)
            }
            throw BroughtFiles.refusal(item.path)
        }
    }

    private static func giveName(_ item: Item) throws(TransferError) -> (path: String, earlier: FileStamp?) {
        do throws(TransferError) {
            try item.part.rename(to: item.path, replacing: mayReplace(item))
            return (item.path, nil)
        } catch {
            guard error.errno == EEXIST else { throw error }
            let folder = item.part.folder
            let there = try DestinationName.look(item.path, in: folder)
            if let refusal = there.refusal(item.path) { throw refusal }
            if case .file(let earlier) = there, isSame(item) {
                // The work of a process that ended before it could record it, or a copy: the same bytes either way.
                item.part.remove()
                return (item.path, earlier)
            }
            guard item.picksFreeName else {
                throw TransferError(
                    .fileExists,
                    "\(item.path) exists with other contents; write \"to\": \"\(proposal(item))\" for this job",
                    cause: .os(errno: EEXIST))
            }
            let free = DestinationName.freeName(item.path, in: folder)
            try item.part.rename(to: free, replacing: false)
            return (free, nil)
        }
    }

    /// Another tool's file gives way only to one that begins with its bytes.
    private static func mayReplace(_ item: Item) throws(TransferError) -> Bool {
        let folder = item.part.folder
        guard try item.replacement.allows(item.path, in: folder) else { return false }
        if item.adopted != item.path { return true }
        return (try? folder.reading(item.path) { FileDigest.isBeginning($0, of: item.part.readablePath) }) ?? false
    }

    /// Whether what has the name has the same bytes.
    private static func isSame(_ item: Item) -> Bool {
        let folder = item.part.folder
        return (try? folder.reading(item.path) { FileDigest.areEqual(item.part.readablePath, $0) }) ?? false
    }

    private static func proposal(_ item: Item) -> String {
        let free = DestinationName.freeName(item.path, in: item.part.folder)
        return String(free[(free.lastIndex(of: "/").map { free.index(after: $0) } ?? free.startIndex)...])
    }
}

extension ResumeData {
    /// What a file that has come whole bears of where it came from.
    static func mark(
        _ job: RunningJob, _ ready: ReadyDownload, _ head: ResponseHead, _ outcome: ExchangeOutcome
    ) -> ResumeData {
        let earlier = ready.earlier(for: outcome)
        var mark = ResumeData(
            url: Redaction.url(job.url), validator: Validator(head) ?? earlier?.validator,
            total: outcome.position, written: ByteRanges(0..<outcome.position), bootID: BootID.current,
            mount: ready.part.mount, partialFile: ready.part.path)
        mark.place = AnsweredPlace(url: outcome.finalURL, takesCredentials: false)
        mark.mediaType = head.mediaType ?? earlier?.mediaType
        mark.contentCoding = job.record.spec.isCompressed ? nil : head.contentCoding?.lowercased()
        return mark
    }
}
