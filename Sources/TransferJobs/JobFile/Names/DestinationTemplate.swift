import TransferCore

/// The destination of a download with placeholders for parts of its URL and its position: `{host}/{path}`,
/// `{n:04}.{ext}`.
///
/// Each value is made safe: it cannot leave the template's folder, hide the file, or exceed the length of a name.
/// Braces that enclose no known word are part of the name, and `{{` stands for one brace.
package struct DestinationTemplate: Sendable, Hashable {
    package enum Place: String, Sendable, Hashable, CaseIterable {
        case host, path, name, ext, n, date, query
    }

    /// The values that a template needs besides the URL.
    package struct Turn: Sendable, Hashable {
        /// The position in the list, from 1.
        package var number = 1
        /// The day of the run, such as `2026-03-01`.
        package var date: String

        package init(number: Int = 1, date: String) {
            self.number = number
            self.date = date
        }
    }

    /// The reason, in words, why a text is no template.
    package struct Refusal: Error, Sendable, Hashable {
        package var message: String
    }

    private enum Part: Sendable, Hashable {
        case text(String)
        case place(Place, width: Int)
    }

    private let parts: [Part]

    package init(_ text: String) throws(Refusal) {
        // A brace that is never closed is a part of the name.
        let template = try? TemplateText(text, braces: .words)
        var parts: [Part] = []
        for part in template?.parts ?? [.text(text)] {
            switch part {
            case .text(let text): parts.append(.text(text))
            case .place(let place): parts.append(try Self.part(place))
            }
        }
        self.parts = parts
    }

    private static func part(_ place: TemplateText.Place) throws(Refusal) -> Part {
        guard let known = Place(rawValue: place.name) else {
            throw Refusal(
                message: "{\(Wording.printable(place.text))} stands for nothing; \(Self.known); {{ is a brace of a name"
            )
        }
        guard let form = place.form else { return .place(known, width: 1) }
        guard known == .n, let width = Int(form), (1...widest).contains(width), form.utf8.allSatisfy({ $0 < 0x3A })
        else {
            throw Refusal(
                message: "{\(Wording.printable(place.text))}: only {n} takes a width, from 1 to \(widest), as {n:04}")
        }
        return .place(known, width: width)
    }

    private static let known = "known are " + Place.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
    private static let widest = 18

    /// Returns whether a destination has no brace, as nearly all; then there is nothing to replace.
    package static func isPlain(_ text: String) -> Bool { !text.hasByte(UInt8(ascii: "{")) }

    /// Explains why a text is no template.
    ///
    /// - Returns: The reason in words; `nil` for a valid one.
    package static func refusal(of text: String) -> String? {
        guard !isPlain(text) else { return nil }
        do throws(Refusal) {
            _ = try DestinationTemplate(text)
            return nil
        } catch {
            return error.message
        }
    }

    /// Whether the template has placeholders.
    package var hasPlaces: Bool {
        parts.contains { if case .place = $0 { true } else { false } }
    }

    /// Returns the destination with its placeholders replaced, or the text itself where it is no template.
    package static func expanded(_ text: String, url: String, _ turn: Turn) -> String {
        guard !isPlain(text), let template = try? DestinationTemplate(text) else { return text }
        return DestinationPath.normalized(template.path(url: url, turn))
    }

    package func path(url: String, _ turn: Turn) -> String {
        let named = URLNames(url)
        var path = PathBuilder()
        for part in parts {
            switch part {
            case .text(let text): path.add(text)
            case .place(.path, _): path.add(components: named.path)
            case .place(let place, let width): path.add(value: Self.value(place, width, named, turn))
            }
        }
        return path.finish()
    }

    private static func value(_ place: Place, _ width: Int, _ named: URLNames, _ turn: Turn) -> String {
        switch place {
        case .host: named.host
        case .path: named.path.joined(separator: "_")
        case .name: named.name
        case .ext: named.fileExtension
        case .query: named.query
        case .date: turn.date
        case .n:
            String(repeating: "0", count: max(0, width - String(turn.number).count)) + String(turn.number)
        }
    }

    /// The builder of a path; components that contain values are made valid names.
    private struct PathBuilder {
        private var path = ""
        private var component = ""
        private var hasValue = false

        mutating func add(_ text: String) {
            for (index, piece) in text.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
                if index > 0 { end(with: "/") }
                component += piece
            }
        }

        mutating func add(value: String) {
            component += value
            hasValue = true
        }

        mutating func add(components: [String]) {
            for (index, name) in components.enumerated() {
                if index > 0 { end(with: "/") }
                add(value: name)
            }
        }

        private mutating func end(with separator: String) {
            path += (hasValue ? Self.safe(component) : component) + separator
            component = ""
            hasValue = false
        }

        mutating func finish() -> String {
            end(with: "")
            return path
        }

        /// Makes a name safe. Two safe values can form an unsafe name, such as a `.` after an empty value.
        private static func safe(_ component: String) -> String {
            var name = component
            while let last = name.last, last == "." || last == " " { name.removeLast() }
            if name.isEmpty { return component.isEmpty ? "" : "_" }
            let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
            guard name[dot...].utf8.count <= 16 else { return FittedName.make(name, "", limit: 255) }
            return FittedName.make(name[..<dot], String(name[dot...]), limit: 255)
        }
    }
}
