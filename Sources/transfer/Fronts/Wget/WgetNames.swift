import TransferCore
import TransferQueue

/// The names of the files that wget writes, and its rules for those that exist.
struct WgetNames {
    /// The file of `--output-document`.
    var document: String?
    var folder: String?
    var continues = false
    /// Whether existing files are kept (`--no-clobber`).
    var keeps = false
    /// Whether existing files are fetched when the server has another one (`--timestamping`).
    var updates = false
    /// Whether the server may name the file.
    var areServers = false
    /// Whether the last URL of the redirects names the file.
    var areLast = false

    /// Whether a file goes to folders named after its host and path (`--force-directories`).
    var makesFolders = false
    /// Whether the host is the first of these folders.
    var namesHost = true
    /// Whether the scheme is a folder above the host's.
    var namesScheme = false
    /// The number of the path's folders that are left out.
    var leftOutFolders = 0

    /// The names of the line's earlier URLs.
    private var taken: Set<String> = []

    /// Returns where the bytes of a URL go, and sets the rule for a file that exists.
    mutating func output(of url: FrontURL, _ draft: inout ListDraft) -> FrontTransfer.Output {
        let place = draft.place
        if let document {
            if document == "-" || document == "/dev/stdout" { return .standardOutput }
            if document == "/dev/null" { return .discarded }
            if FrontNames.isStream(document) { return .stream(document) }
            setRule(keeps ? "skip" : "overwrite", &draft, place)
            return .file(document)
        }
        let name = Self.name(of: url)
        if areServers || areLast {
            // The other name is not known before the answer.
            setRule(keeps ? "skip" : updates ? "update" : "rename", &draft, place)
            return .folder(home(of: url) ?? "", name: areLast ? .last : .given(name))
        }
        let path = FrontNames.joined(home(of: url), name)
        if continues || updates || keeps {
            setRule(keeps ? "skip" : "update", &draft, place)
            return .file(path)
        }
        draft.set(["ifExists"], .string("overwrite"), at: place)
        let free = FrontNames.free(path, taken: taken)
        taken.insert(free)
        return .file(free)
    }

    /// Returns the folder that a URL's file goes to; `nil` for the working one.
    private func home(of url: FrontURL) -> String? {
        guard makesFolders else { return folder }
        var parts = Array(url.folders.dropFirst(leftOutFolders))
        if namesHost { parts.insert(url.authority, at: 0) }
        if namesScheme { parts.insert(url.scheme, at: 0) }
        return parts.isEmpty ? folder : FrontNames.joined(folder, parts.joined(separator: "/"))
    }

    private func setRule(_ rule: String, _ draft: inout ListDraft, _ place: ListPlace) {
        if continues, !keeps {
            draft.set(["adopt"], .string("unproven"), at: place)
        } else {
            draft.set(["ifExists"], .string(rule), at: place)
        }
    }

    /// Returns the name that wget gives the file of a URL: the last part of the path, with the query.
    static func name(of url: FrontURL) -> String {
        let segment = FrontURL.decoded(url.lastSegment).replacing("/", with: "%2F")
        let name = segment.isEmpty ? "index.html" : segment
        guard let query = url.query, !query.isEmpty else { return name }
        return name + "?" + FrontURL.decoded(query).replacing("/", with: "%2F")
    }
}
