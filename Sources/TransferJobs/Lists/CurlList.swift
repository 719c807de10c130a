import TransferCore

/// The reader of the file that `curl --config` reads, line by line.
///
/// Options apply to all URLs up to the next `next`, including those before them, so that a transfer is complete only
/// there.
package struct CurlList: Sendable {
    private var operation = CurlOperation()
    /// The destination of URLs for which no `output` names a file.
    private let destination: String

    package init(destination: String) { self.destination = destination }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: The bytes of the line, without its terminator.
    ///   - number: The line's number, from 1.
    package mutating func read(_ line: [UInt8], number: Int) -> [ListFinding] {
        guard String(validating: line, as: UTF8.self) != nil else {
            operation.isWrong = true
            return [.fault(ListPlace(0..<1, in: line, number: number, isSecret: true).fault("invalid UTF-8"))]
        }
        let read: CurlLine
        do throws(CurlLine.Fault) {
            guard let found = try CurlLine.read(line) else { return [] }
            read = found
        } catch {
            operation.isWrong = true
            return [.fault(ListPlace(error.range, in: line, number: number, isSecret: true).fault(error.message))]
        }
        return options(of: read, line, number).flatMap { take($0, number) }
    }

    /// Ends the list.
    package mutating func finish() -> [ListFinding] {
        defer { operation = CurlOperation() }
        return operation.finish(destination: destination)
    }

    /// A parsed option of a line, a fault, or the name of an unknown option.
    private enum Found {
        case option(CurlOption, ListedOption)
        case fault(JobFileFault)
        case unknown(String)
    }

    /// Returns the options of a line: one option, or several letters after one dash.
    private func options(of read: CurlLine, _ line: [UInt8], _ number: Int) -> [Found] {
        if read.name.hasPrefix("-"), !read.name.hasPrefix("--") { return letters(read, line, number) }
        let name = read.name.hasPrefix("--") ? String(read.name.dropFirst(2)) : read.name
        let nameRange = read.nameRange
        if let option = CurlOption.named(name) { return [made(option, true, read.value, read, line, number)] }
        if name.hasPrefix("no-"), let option = CurlOption.named(String(name.dropFirst(3))), !option.takesValue {
            return [made(option, false, read.value, read, line, number)]
        }
        let isSecret = Self.isSecret(line, name, read.value)
        func fault(_ message: String) -> [Found] {
            [.fault(ListPlace(nameRange, in: line, number: number, isSecret: isSecret).fault(message))]
        }
        if read.value?.hasPrefix("//") == true || name.contains("://") {
            return fault("a URL is written url = \"URL\" in curl's list\(ListWays.plain)")
        }
        if name.hasPrefix("expand-") {
            return fault("variables are not read: write \(name.dropFirst(7)) with the value")
        }
        if let nearest = CurlOption.suggestion(for: name) {
            return fault("curl has no option \(Wording.quoted(name)); did you mean \"\(nearest)\"?")
        }
        return [.unknown("--" + name)]
    }

    /// Returns the options of a group of letters such as `-sSLo file`. The first letter that takes a value takes the
    /// rest of the group, or the text that follows.
    private func letters(_ read: CurlLine, _ line: [UInt8], _ number: Int) -> [Found] {
        var found: [Found] = []
        var rest = read.name.dropFirst()
        while let letter = rest.popFirst() {
            guard let option = CurlOption.lettered(letter) else {
                found.append(.unknown("-\(letter)"))
                continue
            }
            guard option.takesValue else {
                let value = rest.isEmpty ? read.value : nil
                found.append(made(option, true, value, read, line, number))
                continue
            }
            let joined = rest.isEmpty ? nil : [String(rest), read.value].compactMap { $0 }.joined(separator: " ")
            return found + [made(option, true, joined ?? read.value, read, line, number)]
        }
        return found
    }

    private func made(
        _ option: CurlOption, _ isOn: Bool, _ value: String?, _ read: CurlLine, _ line: [UInt8], _ number: Int
    ) -> Found {
        let isSecret = Self.isSecret(line, option.name, value) || option.isSecret
        let shown = "--" + (isOn ? "" : "no-") + option.name
        let place = ListPlace(read.valueRange, in: line, number: number, isSecret: isSecret)
        if option.takesValue, value == nil { return .fault(place.fault("\(shown) takes a value")) }
        if !option.takesValue, value != nil { return .fault(place.fault("\(shown) takes no value")) }
        return .option(
            option, ListedOption(name: option.name, shown: shown, value: value ?? "", isOn: isOn, place: place))
    }

    /// Returns whether a line may contain a secret and so must not be quoted.
    private static func isSecret(_ line: [UInt8], _ name: String, _ value: String?) -> Bool {
        line.contains(UInt8(ascii: "@")) || SecretNames.contain(name)
            || value.map { SecretNames.contain($0) || SecretNames.isCredential($0) } ?? false
            || ["user", "cookie", "cert", "variable"].contains(name)
            || ["user", "pass", "cookie", "bearer"].contains { NearestKey.distance(name, $0) <= 2 }
    }

    private mutating func take(_ found: Found, _ line: Int) -> [ListFinding] {
        switch found {
        case .fault(let fault):
            operation.isWrong = true
            return [.fault(fault)]
        case .unknown(let name): return [.leftOut(name, line: line)]
        case .option(let option, let listed):
            if case .part(.next) = option.meaning { return finish() }
            switch operation.take(option, listed) {
            case .taken: return []
            // An option that is switched off requests nothing, so it is not reported.
            case .takenWithout(let rest): return [.leftOut(rest, line: line)]
            case .leftOut: return listed.isOn ? [.leftOut(listed.shown, line: line)] : []
            case .refused(let message):
                guard listed.isOn else { return [] }
                operation.isWrong = true
                return [.fault(listed.place.fault(message))]
            }
        }
    }
}

extension CurlOption {
    fileprivate var isSecret: Bool {
        if case .common(let meaning) = meaning { meaning.isSecret } else { false }
    }
}
