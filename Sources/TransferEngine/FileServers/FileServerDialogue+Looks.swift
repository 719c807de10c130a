import TransferCore

// The answers to queries, and to commands that a query follows.
extension FileServerDialogue {
    mutating func looked(_ file: RemoteFile) -> Action {
        switch request {
        case .head: return .answer(file.head(200, length: file.size))
        case .get where known?.isStill(file) == true: return .answer(file.head(304, length: nil))
        case .get(nil): return .perform(fetch(from: 0))
        case .get(let range?):
            if let condition = range.condition, condition != file.etag { return .perform(fetch(from: 0)) }
            // Without the length a part cannot be distinguished from the whole.
            guard let size = file.size else { return .perform(fetch(from: 0)) }
            guard range.offset < size else { return .answer(file.unsatisfiable) }
            return .perform(fetch(from: range.offset, expected: file))
        case .patch(let offset):
            guard let size = file.size else {
                return .fail(
                    TransferError(
                        .badResponse,
                        "\(url.origin.hostAndPort) does not report how long files are: nothing can be continued there"))
            }
            return size == offset ? .perform(offset == 0 ? store() : append(at: offset)) : conflict(size)
        case .move: return .answer(Self.head(409, "there is a file of that name"))
        case .makeFolder: return .answer(Self.head(405, "it is there"))
        case .put, .delete, .options, .setTime:
            return .fail(TransferError(.internalFault, "a query that was not requested"))
        }
    }

    /// Handles a refused query.
    ///
    /// - Parameter failure: The server's statement that the file is missing, or its refusal of the query.
    mutating func lookedInVain(_ failure: FileServerFailure) -> Action {
        switch (request, failure) {
        // The file decides, not its length.
        case (.get, .missing), (.get, .denied), (.get, .ambiguous):
            return url.isSSH ? refused(failure) : .perform(fetchUnmeasured())
        // A server that gives no reason may only refuse to move or make something.
        case (.move, .denied), (.move, .ambiguous), (.makeFolder, .denied), (.makeFolder, .ambiguous): break
        case (_, .missing): break
        default: return refused(failure)
        }
        switch request {
        case .patch(let offset): return offset == 0 ? .perform(store()) : conflict(0)
        case .move(let destination, _): return .perform(act(.rename(to: destination)))
        case .makeFolder: return .perform(act(.makeFolder))
        default: return refused(failure)
        }
    }

    /// Returns whether a renaming was refused by a message that may be about the name.
    ///
    /// SFTP has no code for a name that is taken (draft-ietf-secsh-filexfer-02 §6.5).
    func isRefusedMove(_ failure: FileServerFailure) -> Bool {
        guard isMove else { return false }
        switch failure {
        case .denied, .ambiguous: return true
        case .error(let error): return error.code == .badResponse
        case .missing, .exists, .full, .beyondEnd, .noRestart: return false
        }
    }

    mutating func lookAtTarget(_ failure: FileServerFailure) -> Action {
        guard case .move(let destination, _) = request else { return refused(failure) }
        state = .lookingAtTarget(failure)
        return .perform(.look(destination))
    }

    /// Returns the answer to a store. An FTP server was asked for the length; an SFTP server has answered each WRITE
    /// itself.
    func stored(_ file: RemoteFile, _ sent: Int64) -> ResponseHead {
        let length = url.isSSH ? sent : file.size
        return ResponseHead(status: 201, fields: length.map { [HeaderField("Server-Length", "\($0)")] } ?? [])
    }

    func conflict(_ size: Int64) -> Action {
        .answer(ResponseHead(status: 409, fields: [HeaderField("Upload-Offset", "\(size)")]))
    }

    func acted(_ madeFolder: Bool) -> Action {
        switch request {
        case .delete, .setTime: return .answer(ResponseHead(status: 204, fields: []))
        case .makeFolder where !url.isSSH && !madeFolder: return .answer(Self.head(405, "it is there"))
        default: return .answer(ResponseHead(status: 201, fields: []))
        }
    }

    /// Handles the results of a probe. Only a denial means that a command is not allowed.
    mutating func probed(_ result: Result, mayRename: Bool?) -> Action {
        switch (result, mayRename) {
        case (.allowed(let rename, let delete), _): return .answer(Self.allow(rename: rename, delete: delete))
        case (.failed(.error(let error)), _) where error.code != .badResponse: return .fail(error)
        case (_, nil):
            state = .probing(mayRename: !result.isDenial)
            return .perform(.delete)
        case (_, let mayRename?): return .answer(Self.allow(rename: mayRename, delete: !result.isDenial))
        }
    }

    private static func allow(rename: Bool, delete: Bool) -> ResponseHead {
        let methods = ["HEAD", "GET", "PUT"] + (rename ? ["MOVE"] : []) + (delete ? ["DELETE"] : [])
        return ResponseHead(status: 200, fields: [HeaderField("Allow", methods.joined(separator: ", "))])
    }
}
