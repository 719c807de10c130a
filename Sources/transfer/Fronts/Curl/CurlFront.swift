import TransferCore
import TransferQueue

/// The reader of a command line of curl (curl(1), 7.88).
///
/// The names, letters and values of the options are those of ``CurlOptions``, which also reads curl's lists.
struct CurlFront: FrontReader {
    static let tool = FrontTool.curl

    private(set) var line = FrontLine()
    var faults: [FrontFault] = []
    private var operation = CurlFrontOperation()
    private var operations: [CurlFrontOperation] = []
    private var showsErrors = false
    private var isParallel = false
    private var parallel = 50

    static let syntax: FrontSyntax = {
        var syntax = FrontSyntax(joinsByEquals: false)
        for option in CurlOptions.all {
            syntax.add(option.name, letter: option.letter.map(String.init), option.takesValue ? .required : .none)
        }
        // Switching these off is in the manual, and changes how an FTP server is asked.
        for name in ["eprt", "epsv"] { syntax.add(name, .none) }
        return syntax
    }()

    mutating func take(_ option: FrontOption) {
        if option.name == "show-error" { showsErrors = option.isOn }
        if option.name == "fail" { operation.answers.fails = option.isOn }
        if CurlFrontRules.talk.contains(option.name) { return }
        if let rule = CurlFrontRules.refused[option.name] {
            // An option that is switched off asks for nothing.
            if option.isOn { faults.append(option.fault(rule.reason, canBeLeftOut: rule.canBeLeftOut)) }
            return
        }
        switch option.name {
        case "silent": line.isQuiet = option.isOn
        case "verbose": line.isVerbose = option.isOn
        case "parallel": isParallel = option.isOn
        case "parallel-max":
            guard let number = Int(option.value), FieldRanges.concurrencies.contains(number) else {
                return faults.append(option.fault("it takes a whole number from 1"))
            }
            parallel = number
        case "config":
            let command = option.value == "-" ? nil : CurlFrontRules.list(option.value)
            faults.append(option.fault("a file of options is a list here", line: command))
        case "stderr": line.messages = option.value
        case "next": endOperation()
        default: if let fault = operation.take(option) { faults.append(fault) }
        }
    }

    mutating func take(operand: String, at index: Int) { operation.add(url: operand, at: index) }

    mutating func finish() {
        endOperation()
        let asks = operations.contains(where: \.asksForAnswers)
        for operation in operations {
            do throws(CurlFrontOperation.Faults) {
                line.transfers += try operation.transfers(asAnswers: asks)
            } catch {
                faults += error.faults
            }
        }
        if faults.isEmpty, line.transfers.isEmpty { faults.append(FrontFault(shown: "", reason: "no URL is named")) }
        line.concurrency = isParallel ? parallel : 1
        line.hidesErrors = line.isQuiet && !showsErrors
    }

    private mutating func endOperation() {
        operations.append(operation)
        operation = CurlFrontOperation()
    }
}
