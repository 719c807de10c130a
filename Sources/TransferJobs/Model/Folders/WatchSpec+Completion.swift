import TransferCore
import TransferWatch

extension WatchSpec {
    /// The part of a spec that a fault concerns.
    public enum Part: Sendable, Hashable {
        case folder, url, then, keepFor
    }

    /// A reason why a spec cannot be followed.
    public struct Fault: Error, Sendable, Hashable {
        /// The part of the spec that is at fault.
        public var part: Part
        /// The description in words, which never contains a secret.
        public var message: String
    }

    /// Makes the paths absolute, and appends the file's name to a URL that names none.
    ///
    /// - Parameter directory: The folder to which relative paths refer; without it they stay relative.
    /// - Returns: The faults of the spec. The existence of the folder is not checked.
    public mutating func complete(directory: String? = nil) -> [Fault] {
        folder = Self.path(folder, directory)
        var faults: [Fault] = []
        if case .move(let destination) = then {
            let destination = Self.path(destination, directory)
            then = .move(to: destination)
            if let message = refusal(ofDestination: destination) { faults.append(Fault(part: .then, message: message)) }
        }
        if keepFor != nil, then == .keep {
            faults.append(
                Fault(
                    part: .keepFor,
                    message: "files that are kept stay for good; choose to move or delete them instead"))
        }
        do throws(Fault) {
            url = try completedURL()
        } catch {
            faults.append(error)
        }
        return faults
    }

    private func completedURL() throws(Fault) -> String {
        if let refusal = URLRule.refusal(ofDestination: url) { throw Fault(part: .url, message: refusal.message) }
        let template: URLTemplate
        do throws(TransferError) {
            template = try URLTemplate(url)
        } catch {
            // The message begins with the URL, which may contain a secret and is quoted with the fault anyway.
            let quoted = "\"\(url)\": "
            let message = error.message
            throw Fault(
                part: .url, message: message.hasPrefix(quoted) ? String(message.dropFirst(quoted.count)) : message)
        }
        guard upload.uploadProtocol.entry.hasURLPerFile else { return url }
        let completed = template.completed(isRecursive: rules.isRecursive)
        let isStored = upload.uploadProtocol.entry.putsIntoFolders && upload.method != "POST"
        if isStored, url.prefix(4).lowercased() == "http", completed.namesFilesInQueryOnly {
            throw Fault(
                part: .url,
                message: "the file is named behind ? only, and a server that stores files by path would have one for "
                    + "all; write %3F where it belongs to a name, or name the file in the path")
        }
        guard completed.tellsFilesApart(isRecursive: rules.isRecursive) else {
            throw Fault(
                part: .url,
                message: "files of one name in two folders would have the same URL; write {path} instead of {name}")
        }
        return completed.description
    }

    /// Explains why files cannot be moved to a folder: they must not return as new files.
    private func refusal(ofDestination destination: String) -> String? {
        let advice = "files cannot be moved to where they are watched"
        if destination == folder { return "\(advice); name another folder" }
        if watches(folder: destination) {
            return "\(advice), which is in sub-folders too; name a folder outside, or exclude it"
        }
        // The check follows links; a relative path has no base folder yet.
        return folder.hasPrefix("/") ? FolderConflict.first(of: self, among: [])?.message : nil
    }

    /// Returns whether files that arrive in a folder are uploaded.
    package func watches(folder other: String) -> Bool {
        let (root, other) = (WatchedPath.trimmed(folder), WatchedPath.trimmed(other))
        if other == root { return true }
        let prefix = root == "/" ? root : root + "/"
        guard rules.isRecursive, other.utf8.starts(with: prefix.utf8) else { return false }
        var path = ""
        for name in WatchedPath.components(String(Substring(other.utf8.dropFirst(prefix.utf8.count)))) {
            path = path.isEmpty ? name : path + "/" + name
            guard rules.enters(folder: path) else { return false }
        }
        return true
    }

    private static func path(_ path: String, _ directory: String?) -> String {
        let isRelative = !path.hasPrefix("/")
        let whole = isRelative ? directory.map { $0 + "/" + path } ?? path : path
        var normalized = DestinationPath.normalized(whole)
        while normalized.utf8.count > 1, normalized.utf8.last == UInt8(ascii: "/") { normalized.removeLast() }
        return normalized
    }
}
