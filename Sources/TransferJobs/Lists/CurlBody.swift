import TransferCore

/// The data of curl's `data` options: the body of a request, or its query.
package struct CurlBody: Sendable {
    /// The place of the first data option; `nil` where there is none.
    package private(set) var place: ListPlace?
    /// Whether the data is appended to the URL as its query.
    package var isQuery = false
    private var text = ""
    private var isJSON = false

    package init() {}

    package mutating func take(_ part: CurlOption.Part, _ listed: ListedOption) -> ListVerdict {
        var piece = listed.value
        let file =
            "\(listed.shown): what a file holds is not read into a list: write the text, or send the file with upload-file"
        switch part {
        case .encodedData:
            let mark = piece.firstIndex { $0 == "=" || $0 == "@" }
            if let mark, piece[mark] == "@" { return .refused(file) }
            let name = mark.map { piece[..<$0] } ?? ""
            let value = mark.map { piece[piece.index(after: $0)...] } ?? piece[...]
            piece = (name.isEmpty ? "" : "\(name)=") + PercentEncoding.encode(value)
        case .rawData: break
        default: if piece.hasPrefix("@") { return .refused(file) }
        }
        // Pieces of JSON are concatenated; fields of a form are joined with an ampersand.
        text += place == nil || part == .json ? piece : "&" + piece
        isJSON = isJSON || part == .json
        if place == nil { place = listed.place }
        return .taken
    }

    package func query(behind url: String) -> String {
        guard place != nil else { return url }
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let mark = url[..<fragment].contains("?") ? "&" : "?"
        return url[..<fragment] + mark + text + url[fragment...]
    }

    package func add(to draft: inout ListDraft, at place: ListPlace) {
        draft.set(["body"], .string(text), at: place)
        if !draft.has(["method"]) { draft.set(["method"], .string("POST"), at: place) }
        if !draft.hasHeader("Content-Type") {
            let type = isJSON ? "application/json" : "application/x-www-form-urlencoded"
            draft.set(["headers", "Content-Type"], .string(type), at: place)
        }
        if isJSON, !draft.hasHeader("Accept") {
            draft.set(["headers", "Accept"], .string("application/json"), at: place)
        }
    }
}
