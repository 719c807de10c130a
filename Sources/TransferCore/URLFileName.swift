extension SafeFileName {
    /// Returns the name for a download to a folder. It is the name from Content-Disposition, else the default, else the
    /// last component of the URL's path, else `index.html`. The result is always safe.
    public static func forDownload(url: String, disposition: String?, default given: String? = nil) -> String {
        if let disposition, let proposed = ContentDisposition.fileName(disposition), let name = make(proposed) {
            return name
        }
        return given ?? fromURL(url) ?? "index.html"
    }

    /// Returns the last component of the URL's path, decoded and made safe; `nil` where the path ends in `/`.
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
