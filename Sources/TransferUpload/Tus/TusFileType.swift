/// The media type that a file's name suggests, for the server's information only (the registry of media types, RFC
/// 6838).
enum TusFileType {
    static func ofFile(_ name: String) -> String {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, let last = parts.last else { return unknown }
        return types[last.lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let types = [
        "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif", "bmp": "image/bmp", "css": "text/css",
        "csv": "text/csv", "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic",
        "htm": "text/html", "html": "text/html", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
        "json": "application/json", "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown",
        "mkv": "video/matroska", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mxf": "application/mxf", "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png",
        "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "ts": "video/mp2t", "txt": "text/plain",
        "wav": "audio/vnd.wave", "webm": "video/webm", "webp": "image/webp", "xml": "application/xml",
        "zip": "application/zip", "zst": "application/zstd",
    ]
}
