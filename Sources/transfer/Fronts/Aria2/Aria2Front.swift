import TransferCore
import TransferQueue

/// The reader of a command line of aria2c (its manual, 1.36).
struct Aria2Front: FrontReader {
    static let tool = FrontTool.aria2
    static var syntax: FrontSyntax { Aria2FrontOptions.syntax }

    private(set) var line: FrontLine
    var faults: [FrontFault] = []
    private var common = Aria2Download()
    private var isSequential = false
    private var entries: [Aria2Download] = []
    /// The lists, which are read behind the operands.
    private var lists: [FrontOption] = []

    init() {
        line = FrontLine()
        line.concurrency = 5
    }

    mutating func take(operand: String, at index: Int) {
        if let fault = common.add(url: operand, at: index) { faults.append(fault) }
    }

    mutating func take(_ option: FrontOption) {
        var option = option
        if Aria2FrontOptions.choices.contains(option.name), option.value.isEmpty {
            option.value = option.isOn ? "true" : "false"
        }
        option.isOn = option.value != "false"
        if Aria2FrontOptions.talk.contains(option.name) || Aria2FrontOptions.concernsNoURL(option.name) { return }
        if let rule = Aria2FrontOptions.refused[option.name] {
            if option.isOn { faults.append(option.fault(rule.reason, canBeLeftOut: rule.canBeLeftOut)) }
            return
        }
        switch option.name {
        case "input-file": lists.append(option)
        case "quiet": line.isQuiet = option.isOn
        case "force-sequential": isSequential = option.isOn
        case "max-concurrent-downloads":
            guard let number = Int(option.value), FieldRanges.concurrencies.contains(number) else {
                return faults.append(option.fault("it takes a whole number from 1"))
            }
            line.concurrency = number
        case "max-overall-download-limit": line.limitRate = option.value == "0" ? nil : option.value
        default: if let fault = common.take(option) { faults.append(fault) }
        }
    }

    /// Adds the downloads of the operands: all are sources of one file, unless they are fetched one by one.
    private mutating func addOperands() {
        guard !common.urls.isEmpty else { return }
        guard isSequential else { return entries.append(common) }
        for url in common.urls {
            var one = common
            one.urls = [url]
            // Several files cannot have one name.
            if common.urls.count > 1 { one.out = nil }
            entries.append(one)
        }
    }

    /// Reads a list: a line of URLs with tabs between them, and indented lines with options of them.
    private mutating func read(list option: FrontOption) {
        let text: String
        switch FrontInput.text(option.value) {
        case .failure(let refusal): return faults.append(option.fault(refusal.reason))
        case .success(let read): text = read
        }
        var base = common
        base.urls = []
        base.out = nil
        for (number, written) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        {
            let line = written.trimmingBlanks
            guard !line.isEmpty, line.first != "#" else { continue }
            if written.first == " " || written.first == "\t" {
                guard !entries.isEmpty else { continue }
                add(line, number: number + 1, of: option)
                continue
            }
            var entry = base
            for url in line.split(separator: "\t") {
                if let fault = entry.add(url: String(url), at: option.index) { faults.append(fault) }
            }
            entries.append(entry)
        }
    }

    /// Adds an indented line to the last download of a list.
    private mutating func add(_ line: Substring, number: Int, of list: FrontOption) {
        let name = String(line.prefix { $0 != "=" })
        let value = String(line.dropFirst(name.count + 1))
        let shown = "\(list.value), line \(number), \(name)"
        var option = FrontOption(name: name, shown: shown, value: value, index: list.index)
        option.isOn = value != "false"
        if Aria2FrontOptions.talk.contains(name) || Aria2FrontOptions.concernsNoURL(name) || name == "gid" { return }
        if let rule = Aria2FrontOptions.refused[name] { return faults.append(option.fault(rule.reason)) }
        if let fault = entries[entries.count - 1].take(option) { faults.append(fault) }
    }

    mutating func finish() {
        addOperands()
        for list in lists { read(list: list) }
        if faults.isEmpty, entries.isEmpty { faults.append(FrontFault(shown: "", reason: "no URL is named")) }
        for entry in entries where !entry.urls.isEmpty { line.transfers.append(entry.transfer) }
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
        return text
    }
}
