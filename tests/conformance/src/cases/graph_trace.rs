//! What aclmdlRIDebugJsonPrint writes: trace events, which viewers of traces open.

use serde_json::Value;

use super::graph::*;
use super::kernel::AddArgs;
use super::support::*;

impl T {
    /// What aclrtStreamGetId answers.
    fn stream_id(&self, s: aclrtStream) -> u64 {
        let mut id = -1;
        self.ok(aclrtStreamGetId(s, &raw mut id), "aclrtStreamGetId");
        u64::try_from(id).unwrap_or(u64::MAX)
    }

    /// What aclmdlRIGetId answers.
    pub(super) fn model_id(&self, model: aclmdlRI) -> u32 {
        let mut id = 0;
        self.ok(aclmdlRIGetId(model, &raw mut id), "aclmdlRIGetId");
        id
    }

    /// The events that are written of a model.
    pub(super) fn trace(&self, model: aclmdlRI, flags: u32) -> Vec<Value> {
        let path = self.dir().join("model.json");
        let c_path = CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
        let code = aclmdlRIDebugJsonPrint(model, c_path.as_ptr(), flags);
        self.ok(code, "aclmdlRIDebugJsonPrint");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_else(|error| {
            self.fail(format!("{error}: {text:?}"));
            Vec::new()
        })
    }

    /// What the events say of a task; nothing where there is none.
    pub(super) fn traced(&self, events: &[Value], model: aclmdlRI, task: usize) -> Value {
        let id = self.model_id(model);
        let mut found = events.iter().filter(|event| {
            event["ph"] == "X" && event["pid"] == id && event["args"]["task id"] == task
        });
        let one = found
            .next()
            .map_or(Value::Null, |event| event["args"].clone());
        self.eq(found.count(), 0, "more events of the task");
        one
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.graph.debug_json", Setup::device0(), two_streams),
        case("x.graph.debug_json.kernel", Setup::device0(), of_kernel),
        case("x.graph.debug_json.refused", Setup::device0(), refused),
    ]
}

fn two_streams(t: &T) {
    let (s, r) = (t.stream(), t.stream());
    let (p, _) = t.filled(LEN);
    let model = t.model(s, || {
        t.ok(aclrtMemsetAsync(p, LEN, 7, LEN, s), "aclrtMemsetAsync");
        t.link(s, r);
        t.link(r, s);
    });
    t.ok(
        aclmdlRISetName(model, c"a \"name\"".as_ptr()),
        "aclmdlRISetName",
    );
    t.ok(aclmdlRIDebugPrint(model), "aclmdlRIDebugPrint");
    let id = u64::from(t.model_id(model));
    let streams = [t.stream_id(s), t.stream_id(r)];
    // The model remembers the numbers of its streams.
    t.ok(aclrtDestroyStream(r), "aclrtDestroyStream");
    for flags in [1, 0] {
        let events = t.trace(model, flags);
        t.check(
            events.iter().all(|event| event["pid"].as_u64() == Some(id)),
            "every event is of the model",
        );
        t.eq(events.len(), 5, "tasks");
        let on = [0, 0, 1, 1, 0].map(|stream: usize| streams[stream]);
        for (number, task) in events.iter().enumerate() {
            let about = &task["args"];
            t.eq(about["task id"].as_u64(), Some(number as u64), "number");
            t.eq(about["model id"].as_u64(), Some(id), "model");
            t.eq(about["stream id"].as_u64(), Some(on[number]), "stream");
            t.eq(task["tid"].as_u64(), Some(on[number]), "thread");
            t.eq(task["ph"].as_str(), Some("X"), "a complete event");
            let name = about["model name"].as_str();
            t.eq(name, Some("a \"name\""), "name of the model");
            t.check(task["ts"].is_number() && task["dur"].is_number(), "place");
        }
        let kinds: Vec<_> = events
            .iter()
            .map(|task| task["args"]["task type"].as_str().unwrap_or_default())
            .collect();
        let (record, wait) = ("record event", "wait for event");
        t.eq(kinds, vec!["fill", record, wait, record, wait], "kinds");
        let text = events[0]["args"]["task"].as_str().unwrap_or_default();
        t.check(
            text.contains(&format!("{LEN}")) && text.contains(&format!("{p:p}")),
            &format!("the fill is shown as {text:?}"),
        );
        // Which record each wait is for.
        let labels = events.iter().map(|event| event["args"]["label"].as_u64());
        t.eq(
            labels.collect::<Vec<_>>(),
            vec![None, Some(0), Some(0), Some(1), Some(1)],
            "labels",
        );
    }
    t.destroy_model(model);
}

fn of_kernel(t: &T) {
    let s = t.stream();
    let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let function = t.add_kernel();
    let args = AddArgs {
        at: p,
        bytes: LEN as u64,
        addend: 3,
    };
    let model = t.model(s, || t.ok(t.launch_add(function, 5, args, s), "a kernel"));
    let summary = t.traced(&t.trace(model, 0), model, 0);
    t.eq(summary["task type"].as_str(), Some("kernel"), "kind");
    t.check(
        summary["kernel arguments"].is_null(),
        "a summary has no arguments",
    );
    let verbose = t.traced(&t.trace(model, 1), model, 0);
    let shown = verbose["kernel arguments"].as_str().unwrap_or_default();
    t.eq(shown.len(), 2 * size_of::<AddArgs>(), "digits");
    // What is behind the last member is anything.
    let known = [p as u64, LEN as u64].map(u64::to_ne_bytes).concat();
    let known = known.iter().chain(&[3]).map(|byte| format!("{byte:02x}"));
    let known: String = known.collect();
    t.check(shown.starts_with(&known), &format!("arguments {shown}"));
    t.destroy_model(model);
}

fn refused(t: &T) {
    let s = t.stream();
    let (p, _) = t.filled(LEN);
    let model = t.model(s, || {
        t.ok(aclrtMemsetAsync(p, LEN, 7, LEN, s), "aclrtMemsetAsync");
    });
    let path = t.dir().join("model.json");
    let c_path = CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
    // A file that was there is replaced.
    let long = vec![b' '; MIB];
    t.check(std::fs::write(&path, &long).is_ok(), "a longer file");
    for flags in [2, u32::MAX] {
        let code = aclmdlRIDebugJsonPrint(model, c_path.as_ptr(), flags);
        t.fails_with(code, ERROR_FRONT, "flags", "flags");
    }
    t.eq(
        std::fs::read(&path).map_or(0, |bytes| bytes.len()),
        long.len(),
        "a refused call leaves the file",
    );
    t.eq(t.trace(model, 0).len(), 1, "events");
    t.fails(
        aclmdlRIDebugJsonPrint(model, null(), 0),
        ERROR_FRONT,
        "no path",
    );
    let nowhere = t.dir().join("none").join("model.json");
    let nowhere = CString::new(nowhere.display().to_string()).expect("no NUL");
    let code = aclmdlRIDebugJsonPrint(model, nowhere.as_ptr(), 0);
    t.fails_with(code, ERROR_PARAM, "path", "a directory that does not exist");
    t.destroy_model(model);
}
