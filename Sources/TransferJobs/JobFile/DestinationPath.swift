import TransferCore

/// The rules for destination paths. A destination gets one spelling, so that two jobs with the same destination are
/// detected.
package enum DestinationPath {
    /// Removes empty and `.` components and resolves `..` by the text alone; a folder keeps its trailing slash.
    ///
    /// A leading `..` stays, and so does the slash of an absolute path.
    package static func normalized(_ path: String) -> String {
        guard needsWork(path) else { return path }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        var components: [Substring] = []
        var isFolder = true
        for component in path.split(separator: "/", omittingEmptySubsequences: false) {
            isFolder = component.isEmpty || component == "." || component == ".."
            switch component {
            case "", ".": continue
            case "..":
                if let last = components.last, last != ".." {
                    components.removeLast()
                } else if !isAbsolute {
                    components.append(component)
                }
            default: components.append(component)
            }
        }
        guard !components.isEmpty else { return isAbsolute ? "/" : "./" }
        return (isAbsolute ? "/" : "") + components.joined(separator: "/") + (isFolder ? "/" : "")
    }

    /// Returns whether a component is empty or begins with a dot; nearly all paths need no change.
    private static func needsWork(_ path: String) -> Bool {
        var previous = UInt8(ascii: "/")
        var isFirst = true
        for byte in path.utf8 {
            if previous == UInt8(ascii: "/"), byte == UInt8(ascii: ".") || (byte == UInt8(ascii: "/") && !isFirst) {
                return true
            }
            previous = byte
            isFirst = false
        }
        return false
    }

    package static func refusal(ofPath path: String) -> String? {
        if path.isEmpty { return "the path is empty" }
        return path.hasByte(0) ? "a path cannot hold a NUL character" : nil
    }

    /// Explains why a text is no valid job ID. An ID appears in lines of output, and on the command line after the
    /// batch's name and a slash.
    package static func refusal(ofID id: String) -> String? {
        if id.isEmpty { return "the ID is empty" }
        if id.unicodeScalars.count > 255 { return "an ID cannot be longer than 255 characters" }
        if id.utf8.contains(UInt8(ascii: "/")) { return "an ID cannot hold a slash" }
        return hasControl(id) ? "an ID cannot hold control characters" : nil
    }

    package static func refusal(ofBatchName name: String) -> String? {
        if name.isEmpty { return "the name is empty" }
        if name.unicodeScalars.count > 255 { return "a name cannot be longer than 255 characters" }
        if name.utf8.contains(UInt8(ascii: "/")) { return "a batch's name cannot hold a slash" }
        return hasControl(name) ? "a name cannot hold control characters" : nil
    }

    private static func hasControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
