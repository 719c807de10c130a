extension SafeFileName {
    /// The name for a download whose destination is a folder: what Content-Disposition proposes, else the default, else
    /// the last component of the URL's path, else `index.html`; always safe.
    public static func forDownload(url: String, disposition: String?, default given: String? = nil) -> String {
        if let disposition, let proposed = ContentDisposition.fileName(disposition), let name = make(proposed) {
            return name
        }
        return given ?? fromURL(url) ?? "index.html"
    }

    /// The last component of the URL's path, decoded; `nil` when the path ends in `/`.
    public static func fromURL(_ url: String) -> String? {
        let url = FTPTypeCode.split(url)?.url ?? url
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let path = bytes[colon...].dropFirst(3).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let component = path[path.index(after: slash)...]
        guard !component.isEmpty else { return nil }
        guard component.contains(UInt8(ascii: "%")) else { return make(url[component.startIndex..<component.endIndex]) }
        return make(
            String(decoding: PercentEncoding.decode(url[component.startIndex..<component.endIndex]), as: UTF8.self))
    }
}
