// Remembers the reader's answers to the quiz and the hints they opened. Everything works without it.
'use strict';

(function () {
  const page = location.pathname.split('/').pop();
  let memory = {};
  try {
    memory = JSON.parse(localStorage.getItem('warpwise ' + page)) || {};
  } catch (e) { /* no storage, no memory */ }

  function remember(id, value) {
    memory[id] = value;
    try {
      localStorage.setItem('warpwise ' + page, JSON.stringify(memory));
    } catch (e) { /* as above */ }
  }

  const answers = document.querySelectorAll('.question input');
  for (const input of answers) {
    if (memory[input.id]) input.checked = true;
    input.addEventListener('change', () => {
      for (const other of answers) {
        if (other.name === input.name) remember(other.id, other.checked);
      }
    });
  }
  for (const hint of document.querySelectorAll('details.hint')) {
    if (memory[hint.id]) hint.open = true;
    hint.addEventListener('toggle', () => remember(hint.id, hint.open));
  }

  // Paper has everything open.
  addEventListener('beforeprint', () => {
    for (const folded of document.querySelectorAll('details')) folded.open = true;
  });
}());
