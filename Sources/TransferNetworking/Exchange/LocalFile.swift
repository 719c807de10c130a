import Foundation
import FoundationNetworking
import TransferEngine
import TransferEventLoop

/// A file of this machine that a `file` URL names. The file is read without the network, and its response has no head.
struct LocalFile: Sendable {
    let url: URL

    /// Takes the URL of the request; `nil` for other schemes.
    init?(_ request: URLRequest) {
        guard let url = request.url, url.isFileURL else { return nil }
        self.url = url
    }

    /// - Throws: `AFError.sessionTaskFailed` with the `URLError` of a failed task.
    func read(_ manager: FileManager) throws -> Data {
        try check(manager)
        guard let data = manager.contents(atPath: url.path) else { throw failure(.noPermissionsToReadFile) }
        return data
    }

    /// - Throws: The same errors as `read(_:)`.
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
    /// Takes the content of a local file as the response, on a worker.
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
