public import TransferCore

/// A PUT into a folder that isn't there, as its server answers it.
public enum MissingFolder {
    /// Advice for a missing folder: RFC 4918 §9.7.1 wants 409, Go's servers before 2021 answer 404, nginx 500.
    ///
    /// - Parameters:
    ///   - method: Of the request that was refused.
    ///   - url: What it was to make.
    /// - Returns: `nil` where the answer says nothing of folders.
    public static func hint(for head: ResponseHead, method: String, url: String) -> String? {
        guard method == "PUT", FolderMakingPut.parent(of: url) != nil else { return nil }
        switch head.status {
        case 404, 409: break
        case 500:
            guard head.value("Server")?.lowercased().hasPrefix("nginx") == true else { return nil }
        default: return nil
        }
        // The same words for every folder, so that a report shows them once.
        return
            "; if its folder isn't there, \"createFolders\": true\(CommandPhrases.only(" or --create-folders")) makes it"
    }
}
