import TransferCore

/// The parts of curl's `form` options: an upload of one file with fields, or a request with fields alone.
package struct CurlForm: Sendable {
    private struct Field: Sendable {
        var name: String
        var value: String
        var place: ListPlace
    }

    private var fields: [Field] = []
    /// The field that holds a file, with the file's path.
    private var file: Field?

    package init() {}

    /// The place of the first form option; `nil` where there is none.
    package var place: ListPlace? { fields.first?.place ?? file?.place }

    package var hasFile: Bool { file != nil }

    /// Adds a part.
    ///
    /// - Parameter isText: Whether the value is literal, regardless of its first character.
    package mutating func take(_ listed: ListedOption, isText: Bool) -> ListVerdict {
        guard let equals = listed.value.firstIndex(of: "="), equals > listed.value.startIndex else {
            return .refused("\(listed.shown): a part of a form is written NAME=VALUE, or NAME=@FILE")
        }
        let name = String(listed.value[..<equals])
        let text = listed.value[listed.value.index(after: equals)...]
        guard !isText else { return add(Field(name: name, value: String(text), place: listed.place), listed) }
        switch text.first {
        case "<":
            return .refused("\(listed.shown): what a file holds is not read into a list: write the text, or NAME=@FILE")
        case "(": return .refused("\(listed.shown): parts within parts are not sent")
        case "@": return take(file: text.dropFirst(), named: name, listed)
        default:
            let content = Content(text, endsAtComma: false)
            let verdict = add(Field(name: name, value: content.text, place: listed.place), listed)
            guard case .taken = verdict else { return verdict }
            return content.remainder(listed.shown, for: [])
        }
    }

    private mutating func take(file text: Substring, named name: String, _ listed: ListedOption) -> ListVerdict {
        let content = Content(text, endsAtComma: true)
        if content.text == "-" {
            return .refused("\(listed.shown): a list sends files; write one's path")
        }
        if content.text.isEmpty { return .refused("\(listed.shown): the file's path is missing") }
        if content.hasMore || file != nil {
            return .refused("\(listed.shown): one file goes with each entry: write an entry for each of them")
        }
        if let other = content.parameters["filename"],
            other != content.text.split(separator: "/").last.map(String.init)
        {
            return .refused("\(listed.shown): a file is sent by its own name: leave filename out")
        }
        guard !hasField(name) else { return Self.twice(name, listed) }
        file = Field(name: name, value: content.text, place: listed.place)
        return content.remainder(listed.shown, for: ["filename"])
    }

    private mutating func add(_ field: Field, _ listed: ListedOption) -> ListVerdict {
        guard !hasField(field.name) else { return Self.twice(field.name, listed) }
        fields.append(field)
        return .taken
    }

    private func hasField(_ name: String) -> Bool { file?.name == name || fields.contains { $0.name == name } }

    private static func twice(_ name: String, _ listed: ListedOption) -> ListVerdict {
        .refused("\(listed.shown): two parts of a form have the name \(Wording.quoted(name))")
    }

    // MARK: Results

    /// Adds the form with its file to a draft, as an upload.
    package func addUpload(to draft: inout ListDraft) {
        guard let file else { return }
        draft.set(["upload"], .string(file.value), at: file.place)
        draft.set(["protocol"], .string("multipart"), at: file.place)
        draft.set(["fileField"], .string(file.name), at: file.place)
        for field in fields { draft.set(["fields", field.name], .string(field.value), at: field.place) }
    }

    /// Adds the fields alone to a draft, as the body of a request (RFC 7578).
    package func addBody(to draft: inout ListDraft, at place: ListPlace) {
        var boundary = "transfer-form"
        while fields.contains(where: { $0.value.contains(boundary) || $0.name.contains(boundary) }) { boundary += "-x" }
        var body = ""
        for field in fields {
            body += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(field.name))\"\r\n\r\n"
            body += field.value + "\r\n"
        }
        body += "--\(boundary)--\r\n"
        draft.set(["body"], .string(body), at: place)
        if !draft.has(["method"]) { draft.set(["method"], .string("POST"), at: place) }
        draft.set(["headers", "Content-Type"], .string("multipart/form-data; boundary=\(boundary)"), at: place)
    }

    /// Returns a name with the escapes that browsers use.
    private static func escaped(_ name: String) -> String {
        name.replacing("\"", with: "%22").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }
}

/// The value of a part, with the parameters that follow it after semicolons; each may be in double quotes.
private struct Content {
    var text: String
    var parameters: [String: String] = [:]
    /// Whether another file follows.
    var hasMore = false

    /// Parses a value.
    ///
    /// - Parameter endsAtComma: Whether the value may list several files.
    init(_ value: Substring, endsAtComma: Bool) {
        var rest = value
        text = Self.word(&rest, endsAtComma)
        while let mark = rest.popFirst() {
            guard mark == ";" else {
                hasMore = true
                return
            }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            let isSet = rest.first == "="
            if isSet { rest.removeFirst() }
            parameters[name.filter { $0 != " " }.lowercased()] = isSet ? Self.word(&rest, false) : ""
        }
    }

    /// Reads up to a semicolon or, where allowed, a comma.
    private static func word(_ rest: inout Substring, _ endsAtComma: Bool) -> String {
        rest = rest.drop { $0 == " " || $0 == "\t" }
        func isEnd(_ character: Character) -> Bool { character == ";" || endsAtComma && character == "," }
        guard rest.first == "\"" else {
            var word = rest.prefix { !isEnd($0) }
            rest = rest.dropFirst(word.count)
            while word.last == " " || word.last == "\t" { word.removeLast() }
            return String(word)
        }
        rest.removeFirst()
        var word = ""
        while let next = rest.popFirst(), next != "\"" {
            if next == "\\", let escaped = rest.first, escaped == "\"" || escaped == "\\" {
                word.append(rest.removeFirst())
            } else {
                word.append(next)
            }
        }
        rest = rest.drop { !isEnd($0) }
        return word
    }

    /// Returns the parameters of a part that have no meaning here.
    ///
    /// - Parameter known: The parameters that make no difference.
    func remainder(_ shown: String, for known: Set<String>) -> ListVerdict {
        let others = parameters.keys.filter { !known.contains($0) }.sorted()
        return others.isEmpty ? .taken : .takenWithout("\(shown) ;\(others.joined(separator: " ;"))")
    }
}
