import CTransferLinux
import Glibc
import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs

/// The completion of a download, from the last received byte to a verified, durable and renamed file. Blocks, so it
/// belongs on a worker thread.
///
/// Many small files are made durable together, with one call for their file system. Each step is a function, so that a
/// test can interrupt between any two.
struct DownloadCompletion: Sendable {
    struct Item: Sendable {
        let id: Int64
        let batch: Int64
        let part: PartFile
        let path: String
        let replacement: OverwriteRule
        let picksFreeName: Bool
        /// The modification time in seconds since 1970; `nil` keeps the time of writing.
        let modified: Int64?
        let expected: Checksum?
        var pieces: PieceDigests?
        /// The number of bytes that were written to the partial file.
        let length: Int64
        /// The size that the file must have, in bytes.
        var size: Int64?
        /// The digest that the server declared for the whole file. It is used if the job names none.
        var reported: ServerDigest?
        /// The digest computed while the file was written, if that was possible.
        let computed: Checksum?
        let isLarge: Bool
        /// The path of another tool's file that the download began with. It may be replaced if it has the destination's
        /// name and its bytes begin the new file.
        var adopted: String?
        /// The origin of the file, to be written into its attributes.
        var mark: ResumeData?
        /// Whether the file came from several sources. After a mismatch, wrong pieces are fetched again and the rest is
        /// kept.
        var isMixed = false
        var ahead: ReadingAhead?
        /// The identity of the file that this job itself brought before.
        var own: FileStamp?
        /// The overlaps of its parts, to be compared with the file.
        var seams: SeamList?
        /// The recorded content of a file under repair, to be compared with the new one.
        var recorded: RecordedBytes?
        /// The processes that may have partial files of it, if several share folders.
        var owners: PartOwners?
        var taken = TakenName()
    }

    /// The rule for a file that took the destination's name meanwhile, or has the name that the server gave.
    struct TakenName: Sendable {
        /// Whether such a file counts as this one where it has the same bytes.
        var isTakenForSame = true
        /// Whether the number of a new name stands at its end.
        var numbersLast = false
    }

    struct Saved: Sendable {
        let path: String
        let facts: FileStamp
        let digest: Checksum?
        let sums: PieceSumList?
    }

    /// The verified facts about a file's bytes.
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
        // A folder may fail to open without a descriptor or the right to list it. The file's own file system is then
        // synced instead.
        var areSynced = true
        census.sync(folders) { areSynced = FolderMaker.sync($0) && areSynced }
        if !areSynced { for (item, _) in durable { try? item.part.syncFileSystem() } }
        Failpoint.reached(.downloadFolderSynced)
        return answers + saved.map { ($0.id, .success($0.1)) }
    }

    /// Verifies the content of a file.
    ///
    /// - Throws: `checksumMismatch`. The untrustworthy partial file is removed then, unless it came from several
    ///   sources.
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
        // The overlaps are compared before the digest, because this fault is in how the server cuts parts: one
        // connection then fetches the file.
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

    /// Returns the sums made while the file was written, or else reads the file.
    private static func sums(_ item: Item) throws(TransferError) -> PieceSumList? {
        if let sums = item.part.sums.list(of: try item.part.facts().size) { return sums }
        if let sums = try readAhead(item)?.sums { return sums }
        return try FileReading.sums(item.part.readablePath)
    }

    /// Makes files durable. Their times are set first, so that they are durable too.
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
        // One check per folder is enough: all regular files of a folder belong to one file system.
        var folders = Set<String>()
        var devices = Set<dev_t>()
        for item in items where folders.insert(FolderMaker.parent(of: item.part.path)).inserted {
            var status = stat()
            guard fstat(item.part.descriptor, &status) == 0 else { throw .file("read", item.part.path, errno) }
            if devices.insert(status.st_dev).inserted { try item.part.syncFileSystem() }
        }
    }

    /// Gives the file its name.
    ///
    /// - Returns: The path, and the stamp of an existing file with the same bytes, if there is one.
    static func giveName(
        _ item: Item, _ brought: BroughtFiles
    ) throws(TransferError) -> (path: String, earlier: FileStamp?) {
        // The file is noted before it has the name, so that no other job takes it for a foreign file.
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
            let isCopy = isSame(item)
            if case .file(let earlier) = there, isCopy, item.taken.isTakenForSame {
                // The file came from a process that ended before it recorded it, or is a copy: the bytes are the same.
                item.part.remove()
                return (item.path, earlier)
            }
            guard item.picksFreeName else {
                let words = isCopy ? "exists" : "exists with other contents"
                throw TransferError(
                    .fileExists,
                    "\(item.path) \(words); write \"to\": \"\(proposal(item))\" for this job",
                    cause: .os(errno: EEXIST))
            }
            let free = DestinationName.freeName(item.path, in: folder, numbersLast: item.taken.numbersLast)
            try item.part.rename(to: free, replacing: false)
            return (free, nil)
        }
    }

    /// Returns whether the existing file may be replaced. Another tool's file is replaced only by a file that begins
    /// with its bytes.
    private static func mayReplace(_ item: Item) throws(TransferError) -> Bool {
        let folder = item.part.folder
        guard try item.replacement.allows(item.path, in: folder) else { return false }
        if item.adopted != item.path { return true }
        return (try? folder.reading(item.path) { FileDigest.isBeginning($0, of: item.part.readablePath) }) ?? false
    }

    /// Returns whether the file with this name has the same bytes.
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
    /// Creates the record of a complete file's origin.
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
