import Glibc
import TransferCore
import TransferCrypto
import TransferEngine
import TransferJobs

/// The preparation of a download before any request. It checks the destination, makes its folder, opens the partial
/// file and judges the bytes in it. Blocks, so it belongs on a worker thread.
struct DownloadPreparation: Sendable {
    let record: JobRecord
    let download: JobSpec.Download
    let directory: String
    let url: String
    /// The URL that gave the bytes of an earlier attempt of this process, with its secrets.
    var answeredURL: String?
    /// Whether the URL that gave the bytes is asked before the job's own.
    var asksPlace = true
    /// Whether another tool's bytes may be adopted, because they were not refuted yet.
    var mayAdopt = true
    /// Whether the server had no further bytes of another tool's file.
    var hasLonger = false
    private let parts: PartSuccession

    init(
        record: JobRecord, download: JobSpec.Download, directory: String, url: String, answeredURL: String? = nil,
        asksPlace: Bool = true, mayAdopt: Bool = true, hasLonger: Bool = false
    ) {
        self.record = record
        self.download = download
        self.directory = directory
        self.url = url
        self.answeredURL = answeredURL
        self.asksPlace = asksPlace
        self.mayAdopt = mayAdopt
        self.hasLonger = hasLonger
        parts = PartSuccession(owners: record.partOwners)
    }

    enum Result: Sendable {
        case ready(ReadyDownload)
        /// Every byte is already there and the digest proves it; no request is made.
        case complete(ReadyDownload, Checksum)
        /// The file is there and complete; no request is made.
        case kept(path: String, FileStamp, Checksum?)
        /// A file is there and stays as it is, whatever it contains.
        case left(path: String, FileStamp)
        case failed(TransferError)
    }

    func run(_ census: FolderCache) -> Result {
        do throws(TransferError) {
            return try prepare(census, known: record.resume)
        } catch {
            return .failed(error)
        }
    }

    /// Prepares the download.
    ///
    /// - Parameter known: The queue's record of the partial file.
    private func prepare(
        _ census: FolderCache, known: ResumeData?, hasAdopted: Bool = false
    ) throws(TransferError) -> Result {
        let target = DownloadTarget(
            download.destination, directory: directory, defaultName: download.defaultName)
        var path = target.file(url: url, disposition: nil)
        let named = path
        if writesThroughLinks(target) { path = DestinationName.behindLink(path) }
        do throws(TransferError) {
            return try prepare(path, target, census, known, hasAdopted)
        } catch {
            throw DestinationName.leading(error, from: named, to: path)
        }
    }

    /// Prepares the download to the path, which is behind the link that the destination may be.
    private func prepare(
        _ destination: String, _ target: DownloadTarget, _ census: FolderCache, _ known: ResumeData?, _ hasAdopted: Bool
    ) throws(TransferError) -> Result {
        var path = destination
        let folder = try pinned(path, census)
        var replacement = download.ifExists == .overwrite ? OverwriteRule.anything : .nothing
        var version: HeldVersion?
        var replaced: HeldFile?
        var beginning = PartName.path(of: path)
        let isNewFolder = census.isNew(folderOf: path)
        var durablePart: String?
        if !isNewFolder {
            let settled = try settledName(of: path, known, in: folder)
            durablePart = settled.durablePart
            switch try judge(settled.there, known, at: path, in: folder, census) {
            case .take: break
            case .keep(let facts, let digest): return .kept(path: path, facts, digest)
            case .leave(let facts): return .left(path: path, facts)
            case .replace(let facts, let file):
                replacement = facts.map { .only(path: path, $0) } ?? .anything
                replaced = file
            case .ask(let facts, let file):
                replacement = .only(path: path, facts)
                version = file.version
                replaced = file
            case .adopt(let facts):
                // Whether it really is the beginning is checked when the whole file is there.
                replacement = .only(path: path, facts)
                beginning = path
            case .rename:
                let numbersLast = record.spec.settings.http.front.numbersLast
                path = DestinationName.freeName(path, in: folder, numbersLast: numbersLast)
                beginning = PartName.path(of: path)
            }
        }
        try census.foldedNames.claim(path, job: record.id)
        let known = parts.settle(of: path, in: folder, wasInterrupted: record.wasInterrupted, known)
        let isFirst = record.attempts == 0 && known == nil && !record.wasInterrupted && parts.isFirst
        let part = try openPart(
            of: path, known, in: folder, isNew: isNewFolder && isFirst, isNewFolder: isNewFolder, census)
        if replacement != .nothing { part.restrictAccess(like: path) }
        if isNewFolder, NameLimit.mayBeTooLong(path) { try checkName(path, part) }
        let held = ResumableBytes(
            part, recorded: known, download, url: url, answeredURL: answeredURL, asksPlace: asksPlace,
            isDurable: part.path == durablePart)
        if held.prefersAside, part.restoreAside() { return try prepare(census, known: known) }
        let (resume, earlier) = try held.trusted()
        // The record of the job's own partial file is preferred to another tool's bytes.
        if resume == nil, part.path != beginning, !isNewFolder, !hasAdopted, adopts,
            try part.adopt(
                folder.place(of: beginning),
                atMost: provenBeginning(beginning, in: folder, isDestination: beginning == path),
                as: { recordOfAdopted(beginning, $0) })
        {
            return try prepare(census, known: known, hasAdopted: true)
        }
        if beginning == path, earlier?.adopted?.path != path {
            part.discardIfEmpty()
            let refusal = !download.isProvenByDigests ? DestinationRule.Refusal.unknown : .otherDigest
            throw refusal.error(path, download.checksum)
        }
        var ready = ReadyDownload(
            part: part,
            target: target.isFolder ? target : DownloadTarget(path, directory: ""),
            replacement: replacement, resume: resume,
            synced: resume.flatMap { point in earlier.map { min($0.synced.prefixLength, point.offset) } } ?? 0,
            // A partial file is newer than the complete one, so it is continued without a question about the version.
            held: resume == nil ? version : nil, replaced: download.isProvenByDigests ? nil : replaced)
        ready.earlier = earlier
        if resume != nil { ready.ranges = held.holes }
        // The server names a file in a destination folder, so its name is not known yet.
        if !target.isFolder, let digest = try held.provenDigest(resume) { return .complete(ready, digest) }
        return .ready(ready)
    }

    /// Opens the folder of a confined job and makes its missing parents. Later steps use the opened folder.
    private func pinned(_ path: String, _ census: FolderCache) throws(TransferError) -> PinnedFolder? {
        guard let confinement = record.spec.confinement else { return nil }
        try confinement.check(path)
        let (folder, made) = try confinement.pin(folderOf: path)
        census.noteMade(made)
        return folder
    }

    /// Checks before any request that the folder accepts the name, because the partial file's own name may be shorter.
    private func checkName(_ path: String, _ part: PartFile) throws(TransferError) {
        do throws(TransferError) {
            _ = try DestinationName.look(path)
        } catch {
            part.discardIfEmpty()
            throw error
        }
    }

    /// Opens `NAME.part`, or `NAME.1.part`, … if that belongs to another job or did so when an earlier attempt began.
    private func openPart(
        of path: String, _ known: ResumeData?, in folder: PinnedFolder?, isNew: Bool, isNewFolder: Bool,
        _ census: FolderCache
    ) throws(TransferError) -> PartFile {
        let base = parts.base(of: path)
        // An earlier attempt may have had to take another name.
        if let name = known?.partialFile, PartName.isOne(name, of: base, count: NumberedPart.count),
            !DestinationName.isFree(name, in: folder),
            let part = try openOurs(name, known, in: folder, isNew: false, census)
        {
            return part
        }
        let numbers = isNewFolder ? [] : census.partNumbers(of: base)
        let found =
            numbers.isEmpty
            ? [] : ([0] + numbers).map { ($0, bytes(in: folder.place(of: PartName.path(of: base, number: $0)))) }
        if let best = NumberedPart.best(found), best > 0,
            let part = try openOurs(PartName.path(of: base, number: best), known, in: folder, isNew: false, census)
        {
            return part
        }
        for number in 0..<NumberedPart.count {
            let name = PartName.path(of: base, number: number)
            if let part = try openOurs(name, known, in: folder, isNew: isNew, census) { return part }
        }
        return try open(PartName.path(of: base), in: folder, .none, isNew: isNew, census)
    }

    /// Returns how many bytes of this job's file are in a partial file, according to its own record.
    private func bytes(in part: String) -> Int64 {
        guard let found = PartFile.look(part), let known = found.record,
            ResumableBytes.isSameFile(known.url, as: url, of: download)
        else { return 0 }
        return found.size
    }

    /// Opens a partial file.
    ///
    /// - Returns: `nil` if the name belongs to another job.
    private func openOurs(
        _ name: String, _ known: ResumeData?, in folder: PinnedFolder?, isNew: Bool, _ census: FolderCache
    ) throws(TransferError) -> PartFile? {
        do throws(TransferError) {
            return try open(name, in: folder, known?.claim(on: name) ?? .none, isNew: isNew, census)
        } catch {
            guard error.code == .partNotOurs else { throw error }
            return nil
        }
    }

    /// Opens a partial file. Missing folders are made only after a failed attempt, because most exist.
    ///
    /// - Parameter isNew: Whether no earlier attempt can have left the file.
    private func open(
        _ path: String, in folder: PinnedFolder?, _ claim: PartOwnership.Claim, isNew: Bool, _ census: FolderCache
    ) throws(TransferError) -> PartFile {
        if isNew, let part = PartFile.openUnnamed(path, in: folder) { return part }
        do throws(TransferError) {
            return try PartFile.open(path, claim: claim, in: folder)
        } catch {
            guard folder == nil, error.errno == ENOENT || error.errno == EACCES || error.errno == ENOTDIR else {
                throw error
            }
            census.noteMade(try FolderMaker.makeParents(of: path))
            return try PartFile.open(path, claim: claim)
        }
    }

    private enum Verdict {
        /// The existing file may be the beginning of the file.
        case adopt(FileStamp)
        /// Nothing has the name, or the new file is compared with the existing one.
        case take
        case keep(FileStamp, Checksum?)
        case leave(FileStamp)
        /// The existing file may be replaced: only this version, or any if it is `nil`. The answer is judged by the
        /// facts of the held file.
        case replace(FileStamp?, HeldFile? = nil)
        case ask(FileStamp, HeldFile)
        case rename
    }

    /// Decides what happens to the object that already has the destination's name.
    private func judge(
        _ there: DestinationName, _ known: ResumeData?, at path: String, in folder: PinnedFolder?,
        _ census: FolderCache
    ) throws(TransferError) -> Verdict {
        if there == .free { return .take }
        if let refusal = there.refusal(path) { throw refusal }
        guard case .file(let existing) = there else {
            if download.ifExists == .rename { return .rename }
            if download.ifExists == .overwrite { return .replace(nil) }
            throw TransferError(
                .fileExists,
                "\(path) is a symbolic link to nothing; remove it or write \"ifExists\": \"rename\" or \"overwrite\""
                    + CommandPhrases.also("--if-exists"), cause: .os(errno: EEXIST))
        }
        let verdict = try judge(existing, known, at: path, in: folder)
        switch verdict {
        // A server that confirms the version leaves the file as it is; for a new version, the naming checks again.
        case .take, .keep, .leave, .rename, .ask: return verdict
        case .adopt, .replace:
            let isOthers =
                census.brought.contains(existing, batch: record.batch) && !existing.isSameVersion(as: record.facts)
            if isOthers { throw BroughtFiles.refusal(path) }
            return verdict
        }
    }

    private func judge(
        _ existing: FileStamp, _ known: ResumeData?, at path: String, in folder: PinnedFolder?
    ) throws(TransferError) -> Verdict {
        if hasLonger, record.spec.settings.http.front.keepsLonger { return .leave(existing) }
        let (standing, origin) = standing(existing, at: path, in: folder)
        var question = DestinationRule.Question(word: download.ifExists, standing: standing)
        question.recheck = record.recheck
        question.hasRecord = record.facts != nil
        question.mayBegin = existing.size > 0 && adopts
        question.mayCompare = record.wasInterrupted
        // While a partial file exists, the existing file cannot have come from it.
        question.mayBeUnrecorded =
            record.wasInterrupted && partialNames(of: path, known).allSatisfy { DestinationName.isFree($0, in: folder) }
        if let checksum = download.checksum, DestinationRule.needsDigest(question) {
            let found = try folder.reading(path) { (path) throws(TransferError) in
                try FileDigest.compute(path, checksum.algorithm)
            }
            let isRight = found == checksum
            question.digest = isRight ? .right : .wrong
        } else if let pieces = download.pieces, DestinationRule.needsDigest(question) {
            let check = try folder.reading(path) { (path) throws(TransferError) in try PieceCheck(path, pieces) }
            question.digest = check.wrong == nil ? .right : .wrong
        }
        return switch DestinationRule.answer(question) {
        case .keep: .keep(existing, download.checksum)
        case .leave: .leave(existing)
        // A server is asked only about a version that it gave, because a newer file time proves nothing about the
        // bytes.
        case .ask: .ask(existing, held(existing, origin, at: path, in: folder))
        case .fetch: .replace(existing, held(existing, origin, at: path, in: folder))
        case .compare: .take
        case .adopt: .adopt(existing)
        case .overwrite: .replace(nil)
        case .rename: .rename
        case .refuse(let refusal): throw refusal.error(path, download.checksum)
        }
    }

    /// The record of the answer that brought a file.
    private struct Origin {
        var version: HeldVersion?
        /// The note in the file's own attributes.
        var note: FileNote?
    }

    /// Returns the facts of the existing file, by which an answer that would replace it is judged.
    private func held(
        _ existing: FileStamp, _ origin: Origin, at path: String, in folder: PinnedFolder?
    ) -> HeldFile {
        let isRepaired = record.recheck == .repair
        return HeldFile(
            version: origin.version, length: isRepaired ? record.facts?.size ?? existing.size : existing.size,
            mediaType: origin.note?.mediaType, contentCoding: origin.note.flatMap { $0.contentCoding ?? "" },
            isBinary: FileSample.isBinary(folder.place(of: path)), mustBeSame: isRepaired)
    }

    /// Returns who wrote the file, and the version that it had then.
    private func standing(
        _ existing: FileStamp, at path: String, in folder: PinnedFolder?
    ) -> (DestinationRule.Standing, Origin) {
        let note = FileNote.read(folder.place(of: path), existing, from: Redaction.url(url))
        if existing.isSameVersion(as: record.facts) {
            let validator = record.validator.map { Self.validator($0) }
            return (.recorded, Origin(version: validator.map { HeldVersion($0, of: record.place) }, note: note))
        }
        guard let note else { return (.foreign, Origin(version: repairedVersion)) }
        let version = note.validator.map { HeldVersion($0, of: note.place) }
        return (note.isExact ? .noted : .touched, Origin(version: version, note: note))
    }

    /// The version of a file that was damaged since it was recorded.
    private var repairedVersion: HeldVersion? {
        guard record.recheck == .repair else { return nil }
        return record.validator.map { HeldVersion(Self.validator($0), of: record.place) }
    }

    private static func validator(_ text: String) -> Validator {
        text.hasSuffix("\"") ? Validator(etag: text) : Validator(lastModified: text)
    }

    /// Whether the bytes of another tool's file may be the beginning of this one.
    private var adopts: Bool {
        mayAdopt && !download.compressed && (download.method ?? "GET") == "GET"
            && (download.adopt == .unproven || download.adopt == .proven && download.isProvenByDigests)
    }

    /// Returns how many bytes of another tool's file may be continued: those of right pieces, or all if only the whole
    /// has a digest. A file at the destination with a wrong piece gives 0, since it could not be replaced in the end.
    private func provenBeginning(
        _ path: String, in folder: PinnedFolder?, isDestination: Bool
    ) throws(TransferError) -> Int64 {
        guard let pieces = download.pieces else { return .max }
        guard case .file = try DestinationName.look(path, in: folder) else { return 0 }
        let check = try folder.reading(path) { (path) throws(TransferError) in try PieceCheck(path, pieces) }
        return isDestination && check.isRefuted ? 0 : check.proven
    }

    private func recordOfAdopted(_ path: String, _ count: Int64) -> ResumeData {
        var data = ResumeData(
            url: Redaction.url(url), validator: nil, total: nil, written: ByteRanges(0..<count), bootID: BootID.current)
        data.adopted = AdoptedBytes(path: path, count: count)
        return data
    }

    func partialNames(of path: String, _ known: ResumeData?) -> [String] {
        known?.partialFile.map { [$0] } ?? parts.names(of: path)
    }
}
