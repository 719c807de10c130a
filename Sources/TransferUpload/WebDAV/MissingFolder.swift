public import TransferCore

/// A server's answer to a PUT into a missing folder.
public enum MissingFolder {
    /// Returns advice for a missing folder: RFC 4918 §9.7.1 demands 409, Go's servers before 2021 answer 404, nginx
    /// 500.
    ///
    /// - Parameters:
    ///   - method: The method of the refused request.
    ///   - url: The URL of the file.
    /// - Returns: `nil` where the answer does not suggest a missing folder.
    public static func hint(for head: ResponseHead, method: String, url: String) -> String? {
        guard method == "PUT", FolderMakingPut.parent(of: url) != nil else { return nil }
        switch head.status {
        case 404, 409: break
        case 500:
            guard head.value("Server")?.lowercased().hasPrefix("nginx") == true else { return nil }
        default: return nil
        }
        // The text is the same for every folder, so that a report shows it once.
        return
            "; if its folder is not there, \"createFolders\": true\(CommandPhrases.only(" or --create-folders")) makes it"
    }
}
