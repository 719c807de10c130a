import Glibc
import TransferCore
import TransferQueue

/// The name of a file that its server does not name, after redirects: some tools take the last URL's.
struct LastName {
    /// The file that was written.
    let path: String
    /// The URLs that were asked for.
    let urls: [String]
    /// The URL that answered.
    let finalURL: String
    /// Whether a file with the new name is replaced.
    let replaces: Bool
    /// Whether a number stands before the extension: `x.1.iso`.
    let numbersBeforeExtension: Bool

    /// Renames the file where the redirects gave it another name.
    ///
    /// - Returns: Why the file could not be renamed; `nil` where it has its name.
    func apply() -> String? {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let current = String(path[slash...])
        let name = SafeFileName.fromURL(finalURL) ?? "index.html"
        let before = urls.map { SafeFileName.fromURL($0) ?? "index.html" }
        guard !before.contains(name), before.contains(where: { Self.isForm(current, of: $0) }) else { return nil }
        var target = String(path[..<slash]) + name
        if !replaces { target = FrontNames.free(target, beforeExtension: numbersBeforeExtension) }
        guard rename(path, target) != 0 else { return nil }
        return "cannot rename \(path) to \(target): \(String(cString: strerror(errno)).lowercasedFirst)"
    }

    /// Returns whether a name is another one, or that with a number.
    private static func isForm(_ name: String, of other: String) -> Bool {
        if name == other { return true }
        let (stem, rest) = FrontNames.split(other)
        guard name.hasPrefix(stem + "."), name.hasSuffix(rest) else { return false }
        let number = name.dropFirst(stem.count + 1).dropLast(rest.count)
        return !number.isEmpty && number.allSatisfy(\.isNumber)
    }
}
