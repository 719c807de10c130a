import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// The files of one download, from the temporary one to its destination. Calls block, and are therefore for workers.
final class DownloadFiles: Sendable {
    /// The states of the files: `empty` → `open` → (`resumable` → `open` …) → `saved`.
    private enum State {
        case empty
        /// An attempt writes to the partial file, which began with the bytes of `resumed`.
        case open(PartFile, resumed: ResumeData?)
        /// The partial file is closed; a later attempt can continue it.
        case resumable(ResumeData)
        case saved(URL)
    }

    private let folder: String
    private let manager: FileManager
    /// Whether the partial file came with the caller's resume data. Such a file is kept, as the caller may use the same
    /// data again.
    private let isCallers = Mutex(false)
    private let state = Mutex(State.empty)

    /// - Parameter manager: The file manager that moves complete files and removes unneeded ones.
    init(folder: String, manager: FileManager = .default) {
        self.folder = folder
        self.manager = manager
    }

    func continueLater(_ resume: ResumeData) {
        isCallers.withLock { $0 = true }
        state.withLock { $0 = .resumable(resume) }
    }

    var resumable: ResumeData? {
        if case .resumable(let resume) = state.withLock({ $0 }) { return resume }
        return nil
    }

    var saved: URL? {
        if case .saved(let url) = state.withLock({ $0 }) { return url }
        return nil
    }

    /// The partial file of the running attempt.
    var temporary: URL? {
        if case .open(let part, _) = state.withLock({ $0 }) { return URL(fileURLWithPath: part.path) }
        return nil
    }

    // MARK: An attempt begins

    /// Opens the partial file for an attempt, and returns the point from which it can be continued.
    func open(for url: String) throws -> (PartFile, ResumePoint?) {
        switch state.withLock({ $0 }) {
        case .resumable(let resume):
            if let opened = try reopen(resume, url) { return opened }
        case .saved(let url):
            // An attempt that failed validation left its file at the destination, whose place is needed.
            try? manager.removeItem(at: url)
        case .open: discard()
        case .empty: break
        }
        let path = folder + "/transferkit-\(UUID().uuidString).part"
        guard let part = try partFile(path) else { throw AFError.sessionTaskFailed(error: URLError(.cannotCreateFile)) }
        part.restrictAccess()
        state.withLock { $0 = .open(part, resumed: nil) }
        return (part, nil)
    }

    /// - Returns: `nil` when the file can no longer be used.
    private func reopen(_ resume: ResumeData, _ url: String) throws -> (PartFile, ResumePoint?)? {
        guard let path = resume.partialFile, manager.fileExists(atPath: path) else { return nil }
        // The caller's resume data vouch for the name. A foreign file of that name is still refused.
        guard let part = try partFile(path, claim: .name) else { return nil }
        let (known, length) = Self.trusted(part, resume, url)
        if length < part.initialSize { try part.truncate(to: length) }
        state.withLock { $0 = .open(part, resumed: length > 0 ? known : nil) }
        guard length > 0 else { return (part, nil) }
        return (part, ResumePoint(known, offset: length))
    }

    /// Returns the resume data and the number of bytes in the file that belong to the version to be continued.
    ///
    /// The record in the file itself describes the existing bytes, and therefore has priority. It is missing for small
    /// files and on file systems without extended attributes. Then another process may have replaced the content by a
    /// newer version. The resume data are believed only if they state exactly the file's size.
    static func trusted(_ part: PartFile, _ resume: ResumeData, _ url: String) -> (ResumeData, Int64) {
        let redacted = Redaction.url(url)
        if let record = part.initialRecord {
            guard record.url == redacted, record.validator != nil else { return (resume, 0) }
            return (record, part.trustedLength(record))
        }
        guard resume.url == redacted, part.initialSize == resume.written.prefixLength else { return (resume, 0) }
        return (resume, part.trustedLength(resume))
    }

    /// - Returns: `nil` when the file of that name is foreign: a link, another user's, or not made by this library.
    private func partFile(_ path: String, claim: PartOwnership.Claim = .none) throws -> PartFile? {
        do throws(TransferError) {
            return try PartFile.open(path, claim: claim)
        } catch {
            if error.code == .partNotOurs { return nil }
            throw AFError.sessionTaskFailed(error: URLError(error))
        }
    }

    // MARK: An attempt ends

    /// Keeps the bytes of a failed attempt if they can be continued.
    func keep(_ end: TransferEnd, method: String) {
        guard case .open(let part, let resumed) = state.withLock({ $0 }) else { return }
        guard let resume = Self.continuation(end, method: method, resumed: resumed) else { return discard() }
        part.trimReservation()
        var durable = resume
        // A later process may continue the file after a power failure.
        do throws(TransferError) {
            try part.sync()
            durable.synced = durable.written
        } catch {}
        part.record(durable)
        part.unlock()
        state.withLock { $0 = .resumable(durable) }
    }

    private static func continuation(_ end: TransferEnd, method: String, resumed: ResumeData?) -> ResumeData? {
        // No body began, so that the bytes are unchanged.
        guard let start = end.start, !end.outcome.isUntouched else { return resumed }
        guard method == "GET", start.head.status == 200 || start.head.status == 206,
            let resume = end.outcome.resumeData, resume.validator?.ifRange != nil
        else { return nil }
        return resume
    }

    /// Moves the complete file to its destination.
    ///
    /// - Parameter found: A closure called with the destination before the file is moved there.
    func save(
        response: HTTPURLResponse?, to destination: DownloadRequest.Destination?, found: (URL) -> Void = { _ in }
    ) throws {
        guard case .open(let part, _) = state.withLock({ $0 }) else { return }
        part.trimReservation()
        let temporary = URL(fileURLWithPath: part.path)
        guard let destination, let response else {
            part.openAccess(replacing: nil)
            found(temporary)
            state.withLock { $0 = .saved(temporary) }
            return
        }
        let (target, options) = destination(temporary, response)
        found(target)
        do {
            try FilePlacement(part: part, target: target, options: options, files: manager).perform()
        } catch {
            discard()
            throw AFError.downloadedFileMoveFailed(
                error: CocoaError.ofMove(error, from: temporary, to: target), source: temporary, destination: target)
        }
        state.withLock { $0 = .saved(target) }
    }

    /// Copies a file of this machine, without an attempt on the network.
    func copy(_ file: LocalFile) throws {
        let copy = URL(fileURLWithPath: "\(folder)/transferkit-\(UUID().uuidString).\(file.url.pathExtension)")
        try file.copy(to: copy, manager)
        discard()
        state.withLock { $0 = .saved(copy) }
    }

    /// Removes the bytes of a response that failed validation; they are useless and cannot be continued.
    func refuse() {
        state.withLock { state in
            guard case .open(let part, _) = state else { return }
            part.remove()
            part.unlock()
            state = .empty
        }
    }

    /// Closes the files at the end of the request. A file that is still open is kept as it was before the attempt, or
    /// removed.
    func close() {
        guard case .open(let part, let resumed) = state.withLock({ $0 }) else { return }
        guard let resumed else { return discard() }
        part.unlock()
        state.withLock { $0 = .resumable(resumed) }
    }

    /// Removes a complete file in the temporary folder, where no user would look for it.
    func removeSaved() {
        state.withLock { state in
            guard case .saved(let url) = state else { return }
            try? manager.removeItem(at: url)
            state = .empty
        }
    }

    /// Removes the received bytes, except for a file that the caller's own resume data name.
    func discard() {
        let isCallers = isCallers.withLock { $0 }
        state.withLock { state in
            switch state {
            case .open(let part, _):
                if isCallers { part.trimReservation() } else { part.remove() }
                part.unlock()
                state = .empty
            case .resumable(let resume):
                if !isCallers, let path = resume.partialFile { try? manager.removeItem(atPath: path) }
                state = .empty
            case .saved, .empty: break
            }
        }
    }
}
