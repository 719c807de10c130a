import Foundation
import FoundationNetworking
import TransferEngine
import TransferEventLoop

/// A file of this machine that a `file` URL names: it's read without the network, and has no answer's head.
struct LocalFile: Sendable {
    let url: URL

    /// `nil` for any other URL.
    init?(_ request: URLRequest) {
        guard let url = request.url, url.isFileURL else { return nil }
        self.url = url
    }

    /// - Throws: `AFError.sessionTaskFailed` with the `URLError` that a task has for it.
    func read(_ manager: FileManager) throws -> Data {
        try check(manager)
        guard let data = manager.contents(atPath: url.path) else { throw failure(.noPermissionsToReadFile) }
        return data
    }

    /// - Throws: As `read(_:)`.
    func copy(to copy: URL, _ manager: FileManager) throws {
        try check(manager)
        do { try manager.copyItem(at: url, to: copy) } catch {
            throw failure(manager.isReadableFile(atPath: url.path) ? .cannotCreateFile : .noPermissionsToReadFile)
        }
    }

    private func check(_ manager: FileManager) throws {
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: url.path, isDirectory: &isFolder) else { throw failure(.fileDoesNotExist) }
        guard !isFolder.boolValue else { throw failure(.fileIsDirectory) }
    }

    private func failure(_ code: URLError.Code) -> AFError {
        .sessionTaskFailed(
            error: URLError(
                code, userInfo: [NSURLErrorFailingURLErrorKey: url, NSLocalizedDescriptionKey: "\(url.path)"]))
    }
}

extension Request {
    /// Takes what a file of this machine has; on a worker.
    func read(_ file: LocalFile, _ record: AttemptRecord, then ended: @escaping @Sendable (TransferEnd) -> Void) {
        let work = { @Sendable [self] in
            do {
                try receive(file, record)
                ended(record.endedLocally())
            } catch {
                ended(record.ended(unsent: error.asAFError { .sessionTaskFailed(error: $0) }))
            }
        }
        do { try session.engine().workers.execute(work) } catch { session.rootQueue.async(execute: work) }
    }
}
